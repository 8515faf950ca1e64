// npm start [-- options of `sampan up`]: installs and builds if needed, then runs the cluster in the foreground.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled } from './install.mjs';
import { ROOT } from './root.mjs';

ensureInstalled();
const { ensureBuilt } = await import('./build.mjs');
await ensureBuilt();

// In this very process: signals, terminal and exit code are the cluster's own, and nothing starts twice.
const bin = path.join(ROOT, 'dist/sampan.js');
process.argv = [process.execPath, bin, 'up', ...process.argv.slice(2)];
await import(pathToFileURL(bin).href);
