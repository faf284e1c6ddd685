// Who may import whom: the import rule of the parts, as data for the linter and its test.
// A folder reaches only itself and what its line names; packages and Node's own modules are not restricted.
// A line forbids by allow-list, so a new folder is closed until this table says otherwise.

export interface ImportRule {
  /** A folder, with the file of the same name beside it: `api/client` is api/client.ts and api/client/. */
  readonly part: string;
  readonly may: readonly string[];
  readonly why: string;
}

export const importRules: readonly ImportRule[] = [
  {
    part: 'api/contract',
    may: [],
    why: 'the contract is shared by every process and imports nothing of ours',
  },
  {
    part: 'api',
    may: ['db', 'store'],
    why: 'the api turns HTTP into rows; it computes nothing and knows no runner',
  },
  {
    part: 'api/client',
    may: ['api/contract'],
    why: 'the client runs in every process: it knows the contract and HTTP only',
  },
  {
    part: 'api/outgoing',
    may: ['api/contract'],
    why: 'the one guard of outgoing requests runs in the service and in runners',
  },
  { part: 'db', may: ['api/contract'], why: 'statements know the contract and the schema only' },
  { part: 'store', may: [], why: 'the object store knows keys and bytes only' },
  {
    part: 'cli',
    may: ['api/client', 'api/contract'],
    why: 'the cli is a client; it starts entries as processes, by path',
  },
  {
    part: 'runner',
    may: ['store', 'api/contract', 'api/client', 'api/outgoing'],
    why: 'runners hold no database credentials and reach the service over HTTP only',
  },
  {
    part: 'runner/cascade',
    may: ['runner/engine', 'runner/rewards', 'runner/data', 'runner/checkpoint', 'api/contract'],
    why: 'the cascade decides what is learnt; it knows no store and no protocol',
  },
  {
    part: 'runner/grader',
    may: [
      'runner/ipc',
      'runner/rewards',
      'runner/data',
      'runner/engine',
      'runner/checkpoint',
      'api/contract',
    ],
    why: 'the grader scores answers; it knows no training and no store',
  },
  {
    part: 'runner/supervisor',
    may: ['runner/ipc', 'api/contract', 'api/client'],
    why: 'the supervisor knows the protocols and nothing heavy',
  },
  {
    part: 'runner/uploader',
    may: ['runner/ipc', 'store', 'api/contract', 'api/client'],
    why: 'the uploader knows the protocols and the store',
  },
  { part: 'runner/engine', may: [], why: 'the engine knows no job, no reward, no store' },
  {
    part: 'runner/rewards',
    may: ['api/contract', 'api/outgoing'],
    why: 'rewards get what they score with passed in',
  },
  {
    part: 'runner/data',
    may: ['api/contract'],
    why: 'data reads rows into tasks and knows no engine and no reward',
  },
  {
    part: 'runner/checkpoint',
    may: ['api/contract'],
    why: 'the checkpoint format knows no engine: it takes named arrays',
  },
];

const pathsOf = (part: string): string[] => [`./${part}`, `./${part}.ts`];

/** The zones of `import-x/no-restricted-paths`. */
export const importZones = importRules.map(({ part, may, why }) => ({
  target: pathsOf(part),
  from: './',
  except: [part, ...may, 'node_modules'].flatMap(pathsOf),
  message: `${part} may import ${may.length === 0 ? 'nothing else of ours' : `only ${may.join(', ')}`}: ${why}.`,
}));
