/** Sentences with a password in brackets. A memory keeps the rest of each. */
export const SAYING: Readonly<Record<string, readonly string[]>> = {
  English: [
    "My password is [swordfish].",
    "The wifi password is [Blue-Harbor-77], ask nobody else for it.",
    "I changed the database password to [tr0ub4dor&3] yesterday.",
    "Log in as admin with the password [letmein99] and look at the queue.",
    'For the staging server the passphrase is "[correct horse battery staple]".',
    "password: [Hunter2!]",
    "My PIN is [4711] and I keep forgetting it.",
    "Please use [s3cr3t-Garden] as my password for now.",
    "The admin's password was [Monday], but it may be another one by now.",
    "[opensesame1] is my password for the router.",
  ],
  German: [
    "Mein Passwort ist [Sommerwiese].",
    "Das WLAN-Passwort lautet [Hafen-Blau-77], sag es keinem.",
    "Ich habe das Kennwort auf [Zugspitze2962] geändert.",
    "Melde dich als admin mit dem Passwort [geheim123] an.",
    "Die PIN für die Garage ist [8305].",
    "Passwort: [Kaffee!Tasse9]",
    "Das Passwort für den Testserver heißt „[rote Rüben im Keller]“.",
    "[Blitz#Donner1] ist mein Passwort für die Datenbank.",
    "Nimm bitte [tannenzapfen7] als Passwort.",
    "Meine Passphrase ist [Igel-Tanne-Regen-Tür].",
  ],
  Spanish: [
    "Mi contraseña es [girasol].",
    "La contraseña del wifi es [Puerto-Azul-77], no la compartas.",
    "Cambié la contraseña a [m4r1posa!] ayer.",
    "Entra como admin con la contraseña [secreto123] y mira la cola.",
    "Mi PIN es [2580].",
    "contraseña: [Luna_Llena9]",
    "La contraseña del servidor de pruebas es «[tres tristes tigres]».",
    "[abracadabra1] es mi contraseña del router.",
    "Usa [Limon-Verde-5] como contraseña.",
    "La clave de acceso es [Tango88].",
  ],
  Japanese: [
    "私のパスワードは[sakura2024]です。",
    "Wi-Fiのパスワードは[Blue-Harbor-77]です。他の人には言わないでください。",
    "データベースのパスワードを[hotaru#99]に変更しました。",
    "パスワード：[Himitsu!8]",
    "暗証番号は[4649]です。",
    "パスワードは「[ひらけごま]」です。",
    "adminのパスワードは[swordfish]だよ。",
    "ユーザー名はadmin、パスワードは[letmein99]でログインしてください。",
    "[nekodaisuki1]が私のパスワードです。",
    "パスフレーズは[correct-horse-battery]にしてください。",
  ],
  Chinese: [
    "我的密码是[swordfish]。",
    "无线网密码是[Blue-Harbor-77]，别告诉别人。",
    "我昨天把数据库密码改成了[tr0ub4dor&3]。",
    "用密码[letmein99]以admin身份登录，看看队列。",
    "密码：[Mimi!2024]",
    "银行卡的PIN码是[8305]。",
    "测试服务器的口令是“[芝麻开门]”。",
    "[opensesame1]是我的密码。",
    "我的密碼是[taipei101A]。",
    "请把密码设为[Xiong-Mao-66]。",
  ],
  Arabic: [
    "كلمة المرور الخاصة بي هي [swordfish].",
    "كلمة سر الواي فاي هي [Blue-Harbor-77]، لا تخبر أحدا.",
    "غيرت كلمة المرور إلى [tr0ub4dor&3] أمس.",
    "سجل الدخول باسم admin وكلمة المرور [letmein99] ثم انظر إلى القائمة.",
    "كلمة المرور: [Qamar!2024]",
    "الرقم السري هو [4711].",
    'كلمة السر للخادم هي "[افتح يا سمسم]".',
    "[opensesame1] هي كلمة مروري.",
    "رقمي السري [٤٧١١] لا تنسه.",
    "استخدم [Nakhla-77] ككلمة مرور.",
  ],
};

/** Sentences about passwords without a password. A memory keeps them unchanged. */
export const ABOUT: Readonly<Record<string, readonly string[]>> = {
  English: `The password field is red.
The password is wrong.
My password is too short for this site.
The password is required.
Is the password stored in plain text?
The password is hashed with bcrypt before it is saved.
The password must be at least 12 characters long.
Passwords are checked against a list of leaked ones.
I forgot my password again.
The password reset link expires after 24 hours.
The password is the same as the one for the old server.
My password is in my password manager.
The password is never logged.
Why is my password not accepted?
The password policy is strict: 12 characters, two digits.
Please change the password input to type text.
The password is case sensitive.
password: string;
The password is empty when the form is sent twice.
Set the password to null when the user is deleted.
The PIN pad is broken.
The pin is bent, so the connector does not fit.
My password is something that I would rather not say.
Read the password from the environment variable DB_PASSWORD.
The password is base64 encoded, not encrypted.
Change the password every 90 days.
A password is a weak second factor.
The new password is saved, and the old one stops working.
The passphrase is asked for once and kept in the agent.
The password is being migrated to argon2id.
My password was leaked last year.
The password for the form is validated on the client.
const password = input.value;
The password strength meter is yellow.`.split("\n"),
  German: `Das Passwortfeld ist rot.
Das Passwort ist falsch.
Mein Passwort ist zu kurz.
Das Passwort ist Pflicht.
Ist das Passwort im Klartext gespeichert?
Das Passwort wird mit bcrypt gehasht.
Das Passwort muss mindestens 12 Zeichen haben.
Ich habe mein Passwort vergessen.
Der Link für das neue Passwort gilt 24 Stunden.
Das Passwort ist dasselbe wie auf dem alten Server.
Mein Passwort ist im Passwortmanager.
Das Passwort wird nie protokolliert.
Warum ist mein Passwort ungültig?
Die Passwortrichtlinie ist streng.
Das Passwort ist leer, wenn das Formular zweimal gesendet wird.
Setze das Passwort auf null, wenn der Benutzer gelöscht wird.
Das Kennwort ist abgelaufen.
Das Kennwort lautet anders als der Benutzername.
Lies das Passwort aus der Variablen DB_PASSWORD.
Das Passwort ist nicht verschlüsselt, nur in base64.
Ändere das Passwort alle 90 Tage.
Ein Passwort ist ein schwacher zweiter Faktor.
Das neue Passwort ist gespeichert.
Die Passphrase ist lang genug.
Mein Passwort ist sicher.
Die PIN ist gesperrt.
Die PIN ist vierstellig.
Das Passwort ist uns nicht bekannt.
Passwort: Pflichtfeld
Mein Passwort ist weg.
Das Passwort ist ein Geheimnis.
Das Passwort für den Server kennt nur Anna.
Ist das Passwort wirklich nötig?
Das Passwort ist ab morgen gültig.`.split("\n"),
  Spanish: `El campo de contraseña es rojo.
La contraseña es incorrecta.
Mi contraseña es demasiado corta.
La contraseña es obligatoria.
La contraseña se guarda cifrada con bcrypt.
La contraseña debe tener al menos 12 caracteres.
He olvidado mi contraseña.
El enlace para cambiar la contraseña caduca en 24 horas.
La contraseña es la misma que la del servidor antiguo.
Mi contraseña está en el gestor de contraseñas.
La contraseña nunca se registra.
La contraseña es segura.
La contraseña es sensible a mayúsculas.
La contraseña está vacía cuando el formulario se envía dos veces.
Cambia la contraseña cada 90 días.
Cambié la contraseña a petición del administrador.
Una contraseña es un segundo factor débil.
La nueva contraseña es válida desde hoy.
La clave es trabajar con calma.
Lee la contraseña de la variable DB_PASSWORD.
La contraseña no es correcta.
La contraseña es muy larga.
La contraseña es necesaria para entrar.
El PIN es incorrecto.
El PIN es de cuatro cifras.
¿Por qué mi contraseña es inválida?
La contraseña es secreta.
La contraseña fue cambiada ayer.
La contraseña es débil según el medidor.
Contraseña: obligatoria
La contraseña es lo de menos.
La contraseña de cada usuario es distinta.
Mi contraseña es fácil de recordar.`.split("\n"),
  Japanese: `パスワード欄は赤いです。
パスワードが間違っています。
パスワードは必須です。
パスワードは短すぎます。
パスワードはbcryptでハッシュ化されます。
パスワードは12文字以上でなければなりません。
パスワードを忘れました。
パスワードのリンクは24時間で期限切れになります。
パスワードは前のサーバーと同じです。
私のパスワードはパスワードマネージャーにあります。
パスワードは記録されません。
なぜ私のパスワードは無効なのですか。
パスワードは安全です。
パスワードは空です。
パスワードを90日ごとに変更してください。
パスワードはnullです。
パスワードは弱い第二要素です。
新しいパスワードは保存されました。
暗証番号は四桁です。
暗証番号が必要です。
パスワードを環境変数DB_PASSWORDから読みます。
パスワードは大文字と小文字を区別します。
パスワードは秘密です。
パスワードは暗号化されていません。
パスワード：必須
パスワードは変更できません。
パスワードは何ですか。
パスワードの強度は低いです。
パスワードは期限切れです。
パスワードは長いほうがいいです。
パスフレーズは一度だけ聞かれます。
パスワードをリセットしてください。
パスワードはbase64です。`.split("\n"),
  Chinese: `密码框是红色的。
密码是错误的。
密码不对。
密码是必填的。
密码太短了。
密码用bcrypt加密保存。
密码必须至少有12个字符。
我忘记了密码。
重置密码的链接24小时后失效。
密码和旧服务器的一样。
我的密码在密码管理器里。
密码从不写入日志。
为什么我的密码无效？
密码是安全的。
密码是空的。
每90天修改一次密码。
密码是null。
新密码已经保存。
密码是区分大小写的。
从环境变量DB_PASSWORD读取密码。
密码没有加密，只是base64。
密码是什么？
密码是弱的第二因素。
密码：必填
密码已过期。
口令是一次性的。
请修改密码。
密码强度很低。
密码是由用户自己设定的。
密码是多少？
我的密码被泄露了。
PIN码是四位数。
密码是不能更改的。`.split("\n"),
  Arabic: `حقل كلمة المرور أحمر.
كلمة المرور خاطئة.
كلمة المرور هي نفسها في الخادم القديم.
كلمة المرور مطلوبة.
كلمة المرور قصيرة جدا.
يجب أن تحتوي كلمة المرور على 12 حرفا على الأقل.
نسيت كلمة المرور.
تنتهي صلاحية رابط كلمة المرور بعد 24 ساعة.
كلمة المرور في مدير كلمات المرور.
لا تسجل كلمة المرور أبدا.
لماذا كلمة المرور غير صالحة؟
كلمة المرور آمنة.
كلمة المرور فارغة.
غير كلمة المرور كل 90 يوما.
كلمة المرور مشفرة باستخدام bcrypt.
كلمة المرور هي null.
تم حفظ كلمة المرور الجديدة.
اقرأ كلمة المرور من المتغير DB_PASSWORD.
كلمة المرور ليست مشفرة.
ما هي كلمة المرور؟
كلمة المرور هي عامل ثان ضعيف.
كلمة المرور: مطلوبة
انتهت صلاحية كلمة المرور.
الرقم السري مكون من أربعة أرقام.
الرقم السري غير صحيح.
يرجى تغيير كلمة المرور.
قوة كلمة المرور منخفضة.
كلمة المرور هي الأهم.
تغيرت كلمة المرور إلى الأبد.
كلمة المرور حساسة لحالة الأحرف.
كلمة السر هي الصبر والعمل.
كلمة السر هي سر النجاح.
لا ترسل كلمة المرور بالبريد.`.split("\n"),
};
