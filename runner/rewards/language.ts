// Which language a text is written in, for instructions and penalties about languages.
import { franc } from 'franc';

/** franc's ISO 639-3 -> ISO 639-1, for the languages that we tell apart. */
const codes: Readonly<Record<string, string>> = {
  eng: 'en',
  spa: 'es',
  por: 'pt',
  arb: 'ar',
  hin: 'hi',
  fra: 'fr',
  rus: 'ru',
  deu: 'de',
  jpn: 'ja',
  ita: 'it',
  ben: 'bn',
  ukr: 'uk',
  tha: 'th',
  urd: 'ur',
  tam: 'ta',
  tel: 'te',
  bul: 'bg',
  kor: 'ko',
  pol: 'pl',
  heb: 'he',
  pes: 'fa',
  vie: 'vi',
  npi: 'ne',
  swh: 'sw',
  kan: 'kn',
  mar: 'mr',
  guj: 'gu',
  pan: 'pa',
  mal: 'ml',
  fin: 'fi',
};

/** ISO 639-1; undefined where the text is too short or too odd to be sure. */
export function detectLanguage(text: string): string | undefined {
  return codes[franc(text)];
}
