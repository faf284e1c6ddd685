// Transactions whose session ends in the middle. The driver (postgres 3.4) then says `rollback` or `commit`, and whatever statement
// comes next, to the connection as it is: one that is closed, which throws where nobody catches it and ends the process, or one that
// another query has opened again, where the statement is a transaction of its own and what it changes stays. So nothing of a
// transaction is sent any more once its session is known to be gone (decision 0029).
import type postgres from 'postgres';

/** Never settles: the driver has rejected the transaction by itself, and must not be led to end it. */
const never = (): Promise<never> => new Promise(() => undefined);

/** The same client; its `begin` bears the end of the session at any moment. */
export function soundTransactions(sql: postgres.Sql): postgres.Sql {
  const begin = (...given: [string, Work] | [Work]): Promise<unknown> => {
    const [options, work] = given.length === 2 ? given : (['', given[0]] as const);
    const session = new TransactionSession();
    const outcome = sql.begin(options, (tx) => session.run(tx, work));
    outcome.catch((error: unknown) => session.end(error));
    return outcome;
  };
  return new Proxy(sql, {
    get: (target, name) => (name === 'begin' ? begin : (Reflect.get(target, name) as unknown)),
  });
}

type Work = (tx: postgres.TransactionSql) => unknown;

class TransactionSession {
  #ended: unknown;

  end(cause: unknown): void {
    this.#ended ??= cause;
  }

  async run(tx: postgres.TransactionSql, work: Work): Promise<unknown> {
    try {
      const result = await work(this.#guard(tx));
      if (this.#ended === undefined) return result;
    } catch (error) {
      if (this.#ended === undefined) throw error;
    }
    return await never();
  }

  /** Drizzle says everything by `unsafe`. */
  #guard(tx: postgres.TransactionSql): postgres.TransactionSql {
    const unsafe: typeof tx.unsafe = (...statement) => {
      if (this.#ended !== undefined) return refused(this.#ended) as never;
      const query = tx.unsafe(...statement);
      // Known before whoever asked can go on.
      query.catch((error: unknown) => endsSession(error) && this.end(error));
      return query as never;
    };
    return new Proxy(tx, {
      get: (target, name) => (name === 'unsafe' ? unsafe : (Reflect.get(target, name) as unknown)),
    });
  }
}

function refused(cause: unknown): Promise<never> & { values: () => Promise<never> } {
  const rejected = Promise.reject(cause as Error);
  return Object.assign(rejected, { values: () => rejected });
}

/** What the server says of itself when it ends a session, and what the driver and the socket say of a lost one. */
function endsSession(error: unknown): boolean {
  const { severity, code } = error as { severity?: string; code?: string };
  if (severity !== undefined) return severity === 'FATAL' || severity === 'PANIC';
  return /^(CONNECTION_\w+|E[A-Z]+)$/.test(code ?? '');
}
