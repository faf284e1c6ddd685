// Says on descriptor 3 which of some texts do not parse, without running any of them.
'use strict';

function faultOf(text, language) {
  try {
    const source =
      language === 'typescript'
        ? require('node:module').stripTypeScriptTypes(text, { mode: 'transform' })
        : text;
    try {
      new Function(source);
    } catch {
      new (async () => {}).constructor(source);
    }
    return null;
  } catch (error) {
    return `${error.name}: ${String(error.message).slice(0, 300)}`;
  }
}

function main({ texts, language }) {
  const report = JSON.stringify(texts.map((text) => faultOf(text, language)));
  if (globalThis.host) globalThis.host.write(3, report);
  else require('node:fs').writeSync(3, report);
}
