// The signs between words that scripts put together, as the language of the page writes them; `attnviz.settings.language`
// has them for sentences that come from the server.

/** @type {Record<string, string>} */
const CHINESE = { ", ": "，", ": ": "：", ". ": "。", " (": "（", ")": "）", " %": "%" };

/** The languages that write a comma in numbers: `attnviz.text.format.number_format.DECIMAL_COMMA`. */
const DECIMAL_COMMA = ["de", "es"];

/** @param {string} number as English writes it @returns {string} the same in the language of the page */
export const numberInLanguage = (number) => (DECIMAL_COMMA.includes(document.documentElement.lang) ? number.replace(".", ",") : number);

/** @param {string} usual @returns {string} a sign in the language of the page */
export function signOf(usual) {
  return document.documentElement.lang.startsWith("zh") ? CHINESE[usual] ?? usual : usual;
}
