// Pages on the wire, from pages of rows.
import type { PageOf } from '../db/page.ts';

export interface WirePage<Item> {
  data: Item[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

export function pageView<Row, Item>(
  page: PageOf<Row>,
  view: (row: Row) => Item,
  idOf: (row: Row) => string,
): WirePage<Item> {
  return wirePage(page.rows, page.hasMore, view, idOf);
}

/** For lists that go one way: `rows` holds one row more than `limit` where there is more. */
export function pageFrom<Row, Item>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => Item,
  idOf: (row: Row) => string,
): WirePage<Item> {
  return wirePage(rows.slice(0, limit), rows.length > limit, view, idOf);
}

function wirePage<Row, Item>(
  rows: readonly Row[],
  hasMore: boolean,
  view: (row: Row) => Item,
  idOf: (row: Row) => string,
): WirePage<Item> {
  const first = rows[0];
  const last = rows.at(-1);
  return {
    data: rows.map(view),
    has_more: hasMore,
    first_id: first === undefined ? null : idOf(first),
    last_id: last === undefined ? null : idOf(last),
  };
}

/** A page of OpenAI's lists. */
export function openAiPageOf<Item extends { id: string }>(data: Item[], hasMore: boolean) {
  return {
    object: 'list' as const,
    data,
    has_more: hasMore,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}
