// The words that the rules in sentences.ts ask for. Written for this project, to stand for the trained tables of Punkt's English
// model: abbreviations that it knows, and those common ones that it does not know are left out on purpose ("e.g.", "i.e.", "etc.",
// "No.", "P.S."), because it ends a sentence after them.

/** Lower case, without the last period. */
export const abbreviations: ReadonlySet<string> = new Set(
  (
    'mr mrs ms dr prof messrs st sr jr gen col lt maj adm sen rep reps ' +
    'inc ltd corp co cos cie bros vs ave ft yr mg ' +
    'jan feb aug sep sept oct nov dec tues wed fri ' +
    'ala ariz calif colo conn fla ga ill kan ky mich minn nev okla ore pa tenn va vt wash wis ' +
    'n.c n.d n.h n.j n.m n.y s.c d.c l.a w.va u.s u.k u.n u.s.a u.s.s.r a.m p.m a.d ph.d m.b.a ' +
    'j.b j.c j.j j.k j.p j.r h.f h.m l.f r.j r.k s.s'
  ).split(' '),
);

/** Letters that end no sentence, whatever follows; after another one a list's item or a common word begins a new one. */
export const neverFinalInitials: ReadonlySet<string> = new Set('cdefghklmnprstvw');

/** With a capital these begin a sentence even after an abbreviation. */
export const starters: ReadonlySet<string> = new Set(
  (
    'the this these it he they i her your there here in if when while since although but so yet however moreover furthermore ' +
    'therefore thus nor which does were some both many most even still instead indeed despite among under according though ' +
    'meanwhile nevertheless similarly'
  ).split(' '),
);

/** Common words that stand in titles with a capital, so that Punkt does not trust their case: no name, and no sure start. */
export const titleWords: ReadonlySet<string> = new Set(
  (
    'a an that those she we you his its our their my on at by for from with as after before because and or also who what where ' +
    'why how do did is are was can could should would will may might must not no all any each every another other one two three ' +
    'first second then once only just'
  ).split(' '),
);
