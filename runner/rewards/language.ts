// Which language a text is written in, for instructions and penalties about languages. eld decides: of the detectors for Node
// it agrees best with the verdicts published for IFEval (all of them; franc misjudges English lists and poems), says itself
// when it is unsure, and is maintained. The two languages of IFEval that it does not know, Nepali and Swahili, it takes for
// Hindi or says that it is unsure: there franc is asked.
import { eld } from 'eld/medium';
import { francAll } from 'franc';

// Addresses, numbers and codes are no language.
eld.enableTextCleanup(true);

/** eld reads the first 350 bytes of what it is given, so a long text is heard in pieces. */
const pieceLength = 300;
/** Spread evenly over a longer text: a hostile one costs no more. */
const pieceCount = 32;
/** Of the letters in UTF-8; with fewer any answer is a guess. */
const fewestBytes = 10;

/**
 * ISO 639-1; undefined where the text is too short or too odd, or where no language has more than half of it. Looks at no more
 * than 32 pieces of 300 characters.
 */
export function detectLanguage(text: string): string | undefined {
  const letters = new Map<string | undefined, number>();
  for (const piece of pieces(text)) {
    const bytes = letterBytes(piece);
    if (bytes > 0) {
      const language = languageOf(piece);
      letters.set(language, (letters.get(language) ?? 0) + bytes);
    }
  }
  const total = [...letters.values()].reduce((sum, bytes) => sum + bytes, 0);
  const [most] = [...letters].sort(([, a], [, b]) => b - a);
  return most !== undefined && total >= fewestBytes && 2 * most[1] > total ? most[0] : undefined;
}

/** Cut at white space where there is some near. */
function pieces(text: string): string[] {
  const trimmed = text.trim();
  const count = Math.min(pieceCount, Math.ceil(trimmed.length / pieceLength));
  const stride = trimmed.length / count;
  return Array.from({ length: count }, (_, at) => {
    const piece = trimmed.slice(Math.round(at * stride), Math.round(at * stride) + pieceLength);
    return at === 0 ? piece : piece.replace(/^\S{0,20}\s/, '');
  });
}

const letterBytes = (piece: string): number =>
  Buffer.byteLength((piece.match(/[\p{L}\p{M}]+/gu) ?? []).join(''), 'utf8');

function languageOf(piece: string): string | undefined {
  const found = eld.detect(piece);
  const sure = found.isReliable();
  if (!sure || (found.getScores()[found.language] ?? 0) < swahiliScore)
    return soundsSwahili(piece) ? 'sw' : sure ? found.language : undefined;
  if (found.language === 'hi' || found.language === 'mr') return isNepali(piece) ? 'ne' : found.language;
  return found.language;
}

/** In eld's scores of 0 to 1: what it takes Swahili for has less, what it knows has more. */
const swahiliScore = 0.65;

const isNepali = (piece: string): boolean =>
  francAll(piece, { only: ['hin', 'mar', 'npi'] })[0]?.[0] === 'npi';

/** franc always has a nearest language, so the next one must be further. */
function soundsSwahili(piece: string): boolean {
  const [first, second] = francAll(piece);
  return first?.[0] === 'swh' && (second?.[1] ?? 0) < 0.98;
}
