// Migrations are generated from db/schema.ts and the tables beside it: `npm run db:generate`. No database is needed for that.
import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'postgresql',
  schema: [
    './db/schema.ts',
    './db/errands/table.ts',
    './db/serving/table.ts',
    './db/webhooks/table.ts',
    './db/retention/table.ts',
  ],
  out: './db/migrations',
});
