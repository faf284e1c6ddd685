// millrace keys list
import type { Key } from '../../api/contract/keys.ts';
import type { Command } from '../command.ts';
import { dataDirFlag } from '../command.ts';
import { connect } from '../connection.ts';
import { exitCodes } from '../exit-code.ts';
import { table } from '../format.ts';

export const keysListCommand: Command = {
  name: 'keys list',
  summary: 'list the keys of the project, of an operator those of every project',
  arguments: [],
  flags: {
    ...dataDirFlag,
    project: { type: 'string', value: 'NAME', help: 'keys of this project only' },
  },
  async run(given, interrupt) {
    const { client } = connect(given, interrupt);
    const rows = [['key', 'name', 'secret', 'scopes', 'project', 'state', 'last used']];
    for await (const key of client.all((query) => client.keys({ ...query, project: given.text('project') })))
      rows.push([
        key.id,
        key.name,
        key.prefix === null ? '-' : `${key.prefix}…`,
        key.scopes.join(','),
        key.project,
        stateOf(key, new Date()),
        key.last_used_at ?? '-',
      ]);
    for (const line of table(rows)) console.log(line);
    return exitCodes.succeeded;
  },
};

function stateOf({ revoked_at, expires_at, replaced_by }: Key, now: Date): string {
  if (revoked_at !== null) return 'revoked';
  if (expires_at === null) return 'valid';
  if (new Date(expires_at) <= now) return 'expired';
  return `${replaced_by === null ? 'valid' : 'rotated'} until ${expires_at}`;
}
