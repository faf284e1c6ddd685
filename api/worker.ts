// The API as a Cloudflare Worker. It answers /healthz only: the routes join when the database comes through
// Hyperdrive and the objects through R2 (wrangler.toml names both places).
import { Hono } from 'hono';

const worker = new Hono();

worker.get('/healthz', (context) => context.json({ status: 'ok' }));

export default worker;
