/** Returns whether an address is OpenAI's own server, or one of its regional servers such as `eu.api.openai.com`. */
export function isOpenAI(address: string): boolean {
  return /(?:^|\.)api\.openai\.com$/.test(new URL(address).hostname);
}
