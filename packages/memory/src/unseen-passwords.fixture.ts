/** Sentences of users, written without knowledge of the word tables, to test the rules. Passwords are in brackets. */
export const UNSEEN_SAYING: Readonly<Record<string, readonly string[]>> = {
  English: [
    "The wifi password here is [tulip-garden-42].",
    "For the staging box, log in as root with password [hunter2] please.",
    "I changed my PIN to [4471] yesterday.",
    "Remember that the passphrase for my SSH key is [correct horse battery staple]",
    "user: anna, pw: [Sommer!2024]",
    "Use '[zebra99]' as the password for the test account.",
    "My passcode's [880213], in case you need it.",
    'You can unlock the zip with the password "[blue moon rising]".',
    "Admin login is admin/[Winter#77], please do not lose it.",
    "I set the database password as [Qwerty_1987] last week.",
    "Our shared password is now [Lemon_Tree5], tell the others.",
    "Sign in with password: [otter-river-9]",
    "The password I use for backups is [Gr4nite!]",
    "My bank PIN stays [6620].",
  ],
  German: [
    "Das WLAN-Passwort lautet [Katze1234].",
    "Mein Kennwort für den Server ist jetzt '[Regenbogen7]'.",
    "Die PIN meiner Karte ist [5529].",
    "Melde dich als admin mit dem Passwort [Blumenwiese_9] an.",
    "Passwort: [geheim123]",
    "Ich habe das Passwort auf [Xk9!rot] geändert.",
    "Als Zugangscode benutze ich [771204].",
    "Das Losungswort heißt „[Mondschein]“.",
    "Nimm bitte „[sonne-2025]“ als Passwort für die Datenbank.",
    "Mein Masterpasswort lautet: [drei Igel tanzen leise]",
    "Unser Gastpasswort ist [Birnbaum_3].",
    "Das Passwort meiner Schwester lautet „[kleiner Bär]“.",
    "Mein Kennwort bleibt [Winter#2025].",
  ],
  Spanish: [
    "Mi contraseña es [perro-azul-88].",
    "La clave del wifi es [Casita2020].",
    "El PIN de mi tarjeta es [3094].",
    "Entra como root con la contraseña [Nube#41].",
    "contraseña: [sol_y_mar9]",
    "Cambié la contraseña a [Tigre.2023] ayer.",
    'Usa "[luna llena]" como contraseña del archivo.',
    "La contraseña de la base de datos sigue siendo [postgres_55].",
    "El código de acceso es [662910].",
    "Mi usuario es ana y mi clave [Verano*19].",
    "Nuestra contraseña es ahora [Olivo_77].",
    "Como contraseña uso [Mar-Azul-9].",
  ],
  Japanese: [
    "私のパスワードは「[sakura2024]」です。",
    "Wi-Fiのパスワードは[Hanabi_77]です。",
    "暗証番号は[4812]です。",
    "パスワード:[neko-neko9]",
    "パスワードを[fuji#3776]に変更しました。",
    "データベースには [tanuki88] というパスワードを使っています。",
    "PINコードは[0927]にしました。",
    "合言葉は『[山と川]』です。",
    "管理者のパスワードは [admin!2025] のままです。",
    "rootでログインしてください。パスワード は [kumo_12] です。",
    "パスワードは「[青い鳥]」にしました。",
    "PIN番号は[5518]です。",
  ],
  Chinese: [
    "我的密码是 [xiaomao2024]。",
    "无线网密码为[Dragon_88]。",
    "银行卡的PIN码是[6031]。",
    "密码:[panda#520]",
    "我把密码改成了 [tiger-1998]。",
    "请用“[moonlight7]”作为数据库的密码。",
    "口令是「[芝麻开门]」。",
    "管理员账号是 admin,密码 [Abc!2345],别忘了。",
    "解锁密码设为 [908172]。",
    "登入密碼是 [Taipei_101]。",
    "我们的密码还是 [River_31]。",
    "密码我用 [Stone#77]。",
  ],
  Arabic: [
    "كلمة المرور الخاصة بي هي [qamar2024].",
    'كلمة السر هي "[نجمة البحر]".',
    "الرقم السري لبطاقتي هو [7315].",
    "كلمة المرور: [Nile_99]",
    "غيّرت كلمة المرور إلى [Sahara#12] أمس.",
    'استخدم "[zaytoun7]" ككلمة مرور لقاعدة البيانات.',
    "ادخل باسم root وكلمة المرور [Oasis-55].",
    "رمز الدخول هو [440921].",
    "باسورد الواي فاي هو [Falcon_3].",
    "كلمة مرور الخادم ما زالت [admin!77].",
    "كلمة المرور الجديدة هي [Cedar_44].",
    "الباسورد: [Pearl#10]",
  ],
  French: [
    "Mon mot de passe est [chaton-bleu-31].",
    "Le mot de passe du wifi, c'est [Soleil2024].",
    "Le code PIN de ma carte est [2846].",
    "Connecte-toi en root avec le mot de passe [Neige#18].",
    "Mot de passe : [tournesol_7]",
    "J'ai changé le mot de passe en [Rivage.2025] hier.",
    "Utilise « [lune rousse] » comme mot de passe de l'archive.",
    "Ma phrase secrète est « [trois renards dansent] ».",
    "Le code d'accès de l'immeuble est [51A83].",
    "Mon identifiant est anne et mon mdp est [Printemps!4].",
    "Le mot de passe de la base de données est [Moulin_55].",
    "Mon mot de passe reste [Cerise!8].",
    "Mon mot de passe, c'est [tournesol].",
    "Comme mot de passe, j'utilise [Galet_12].",
    "« [petit pont de bois] » est mon mot de passe.",
  ],
  Italian: [
    "La mia password è [gatto-nero-27].",
    "La password del wifi è [Fragola2023].",
    "Il PIN della mia carta è [9052].",
    "Accedi come root con la password [Vento#64].",
    "Parola d'ordine: [girasole_8]",
    "Ho cambiato la password in [Lago.2025] ieri.",
    'Usa "[luna piena]" come password dell\'archivio.',
    "La mia passphrase è «[tre volpi ballano piano]».",
    "Il codice di accesso del palazzo è [38B17].",
    "Il mio utente è anna e la parola chiave è [Estate!5].",
    "Ormai la mia password è [girasole].",
    "La password del database rimane [Ponte_55].",
    "Come password uso [Sasso_12].",
    "La password per il server è «[ponte di legno]».",
    "Password: [mirtillo_4]",
  ],
};

/** Sentences about passwords without a password, written in the same way. */
export const UNSEEN_ABOUT: readonly string[] = `The password field on the login page is too narrow.
Passwords are hashed with argon2 before they are stored.
My password is longer than yours.
The password reset mail is sent after five minutes.
Please never write a password into a log file.
The PIN pad of the door is broken since Monday.
The password is required.
A user's password is checked in auth.ts.
Password managers are allowed, sticky notes are not.
The passphrase is read from the environment at start.
We rotate the database password every 90 days.
The minimum password length is 12 characters.
I forgot my password again.
Use the same password policy as production.
The pin of the map is drawn in red.
Das Passwortfeld ist zu schmal.
Das Passwort ist abgelaufen.
Passwörter werden mit argon2 gehasht.
Mein Passwort ist länger als deins.
Die PIN wird dreimal geprüft, danach ist die Karte gesperrt.
Ich habe das Passwort vergessen.
Das Kennwort muss mindestens zwölf Zeichen haben.
Das Passwort wird aus der Umgebung gelesen.
Die Seite zum Zurücksetzen des Passworts ist kaputt.
Ändere das Passwort alle 90 Tage.
Das Passwort ist falsch, steht im Log.
Der Passwort-Dialog schließt sich nicht.
Das Passwort steht im Tresor der Firma.
El campo de contraseña es demasiado estrecho.
La contraseña es obligatoria.
Las contraseñas se guardan cifradas.
Olvidé mi contraseña otra vez.
La contraseña debe tener al menos doce caracteres.
La clave del problema es la caché.
La clave primaria es compuesta.
El PIN se comprueba tres veces.
La contraseña es incorrecta.
La página para cambiar la contraseña está rota.
Hay que cambiar la contraseña cada 90 días.
La contraseña caducó ayer.
パスワード欄が狭すぎます。
パスワードは必須です。
パスワードを忘れました。
パスワードは12文字以上にしてください。
パスワードはハッシュ化して保存します。
パスワードが間違っています。
パスワードの変更ページが壊れています。
暗証番号は三回まで試せます。
パスワードは90日ごとに変更します。
パスワードは環境変数から読み込みます。
管理者のパスワードは金庫にあります。
密码输入框太窄了。
密码不能为空。
我忘记了密码。
密码至少要有12个字符。
密码用argon2加密后保存。
密码是错误的。
修改密码的页面坏了。
密码每90天要换一次。
密码从环境变量读取。
口令的长度没有限制。
PIN码最多试三次。
密码保存在公司的保险箱里。
حقل كلمة المرور ضيق جدا.
كلمة المرور مطلوبة.
نسيت كلمة المرور مرة أخرى.
يجب أن تتكون كلمة المرور من 12 حرفا على الأقل.
كلمات المرور مشفرة قبل حفظها.
كلمة المرور غير صحيحة.
صفحة تغيير كلمة المرور معطلة.
نغيّر كلمة المرور كل 90 يوما.
تقرأ كلمة المرور من متغيرات البيئة.
الرقم السري يفحص ثلاث مرات.
كلمة المرور هي المشكلة.
انتهت صلاحية كلمة السر.
Le champ du mot de passe est trop étroit.
Le mot de passe est obligatoire.
Les mots de passe sont hachés avec argon2.
J'ai oublié mon mot de passe.
Le mot de passe doit avoir au moins douze caractères.
Mon mot de passe est plus long que le tien.
Le mot de passe est lu dans l'environnement au démarrage.
Le mot de passe a expiré hier.
Le code PIN est vérifié trois fois.
Il faut changer le mot de passe tous les 90 jours.
La page pour changer le mot de passe est cassée.
Le mot de passe est incorrect, dit le journal.
Il campo della password è troppo stretto.
La password è obbligatoria.
Le password vengono cifrate con argon2.
Ho dimenticato la mia password.
La password deve avere almeno dodici caratteri.
La mia password è più lunga della tua.
La password è letta dall'ambiente all'avvio.
La password è scaduta ieri.
Il PIN viene controllato tre volte.
Bisogna cambiare la password ogni 90 giorni.
La pagina per cambiare la password è rotta.
La password è sbagliata, dice il registro.
La parola chiave del linguaggio è riservata.
Le mot de passe est affiché en clair sur la page.
Le mot de passe est envoyé par courriel.
Mot de passe : obligatoire
Mon mot de passe est dans le gestionnaire.
Le mot de passe, c'est important.
Quel est le mot de passe ?
Le mot de passe est le même que sur l'ancien serveur.
La password è la stessa del vecchio server.
La password è visibile a tutti.
Password: obbligatoria
La mia password è nel gestore delle password.
Qual è la password?
La password è in chiaro nel file.
The password is stored in utf8_general encoding.
The password here is optional.
The login is broken since Monday.
The login is handled in src/login2.ts.
Login: auth/login2.ts does the work.
The credentials are in /etc/app2/secret.
The password there is never shown.
Use "password" as the type of the password field.
Die Passworteingabe bleibt leer.
Das Gastpasswort ist: noch nicht gesetzt
The password is: not set yet
La contraseña sigue siendo obligatoria.
La clave de la tabla es id_usuario.
Das Masterpasswort wird lokal geprüft.
The password as such is fine.
Why does it say the password is: required?
Le code d'accès est demandé à l'entrée.`.split("\n");
