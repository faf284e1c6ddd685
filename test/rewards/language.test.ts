// Which language a text is in: the languages that IFEval asks for, mixtures, and texts that nobody could tell.
import { describe, expect, it } from 'vitest';
import { askedLanguage } from '../../api/contract/instructions/ifeval.ts';
import { detectLanguage } from '../../runner/rewards/language.ts';

/** "All people are born free …", or a plain sentence, in each. */
const samples: Readonly<Record<string, string>> = {
  en: 'All human beings are born free and equal in dignity and rights.',
  es: 'Todos los seres humanos nacen libres e iguales en dignidad y derechos.',
  pt: 'Todos os seres humanos nascem livres e iguais em dignidade e em direitos.',
  ar: 'يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.',
  hi: 'सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है।',
  fr: 'Tous les êtres humains naissent libres et égaux en dignité et en droits.',
  ru: 'Все люди рождаются свободными и равными в своем достоинстве и правах.',
  de: 'Alle Menschen sind frei und gleich an Würde und Rechten geboren.',
  ja: 'すべての人間は、生まれながらにして自由であり、尊厳と権利とについて平等である。',
  it: 'Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti.',
  bn: 'সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে।',
  uk: 'Всі люди народжуються вільними і рівними у своїй гідності та правах.',
  th: 'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ',
  ur: 'تمام انسان آزاد اور حقوق و عزت کے اعتبار سے برابر پیدا ہوئے ہیں۔',
  ta: 'மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்.',
  te: 'ప్రతిపత్తిస్వత్వముల విషయమున మానవులెల్లరును జన్మతః స్వతంత్రులును సమానులును నగుదురు.',
  bg: 'Всички хора се раждат свободни и равни по достойнство и права.',
  ko: '모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.',
  pl: 'Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.',
  he: 'כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.',
  fa: 'تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند.',
  vi: 'Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.',
  ne: 'सबै व्यक्तिहरू जन्मजात स्वतन्त्र हुन् ती सबैको समान अधिकार र महत्व छ।',
  sw: 'Watu wote wamezaliwa huru, hadhi na haki zao ni sawa.',
  kn: 'ಎಲ್ಲಾ ಮಾನವರೂ ಸ್ವತಂತ್ರರಾಗಿಯೇ ಜನಿಸಿದ್ದಾರೆ.',
  mr: 'सर्व मानवी व्यक्ति जन्मतःच स्वतंत्र आहेत व त्यांना समान प्रतिष्ठा व समान अधिकार आहेत.',
  gu: 'પ્રતિષ્ઠા અને અધિકારોની દૃષ્ટિએ સર્વ માનવો જન્મથી સ્વતંત્ર અને સમાન હોય છે.',
  pa: 'ਸਾਰਾ ਮਨੁੱਖੀ ਪਰਿਵਾਰ ਆਪਣੀ ਮਹਿਮਾ, ਸ਼ਾਨ ਅਤੇ ਹੱਕਾਂ ਦੇ ਪੱਖੋਂ ਜਨਮ ਤੋਂ ਹੀ ਆਜ਼ਾਦ ਹੈ।',
  ml: 'മനുഷ്യരെല്ലാവരും തുല്യാവകാശങ്ങളോടും അന്തസ്സോടും സ്വാതന്ത്ര്യത്തോടുംകൂടി ജനിച്ചിട്ടുള്ളവരാണ്.',
  fi: 'Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan.',
};

describe('detectLanguage', () => {
  it.each(askedLanguage.options)('knows %s, alone and many times over', (language) => {
    const sample = samples[language] ?? '';
    expect(detectLanguage(sample)).toBe(language);
    expect(detectLanguage(`${sample}\n`.repeat(50))).toBe(language);
  });

  it.each(['en', 'de', 'ru'])('knows %s in capitals too', (language) => {
    expect(detectLanguage((samples[language] ?? '').toUpperCase())).toBe(language);
  });

  it.each(['', '   ', '12345 67890', '!!! ??? ...', '🎉🎉🎉', 'YES', 'a b c', 'xqz kjh wvb fgt pzx qqw'])(
    'is unsure about %j',
    (text) => {
      expect(detectLanguage(text)).toBeUndefined();
    },
  );

  it('names the language that has more than half of a mixed text, and none where none has', () => {
    const { en = '', de = '', ru = '' } = samples;
    expect(detectLanguage(`${en} `.repeat(40) + `${de} `.repeat(10))).toBe('en');
    expect(detectLanguage(`${en} `.repeat(20) + `${de} `.repeat(20) + `${ru} `.repeat(10))).toBeUndefined();
  });

  it('does not hear addresses and numbers', () => {
    expect(detectLanguage(`https://www.example.com/the/way/of/all/flesh ${samples['fr'] ?? ''} 2024`)).toBe(
      'fr',
    );
  });
});
