import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Manifest {
  version: string;
}

/** Our package.json, in a parent directory of this file or of its bundle. */
export function readManifest(from: string = fileURLToPath(import.meta.url)): Manifest {
  const directory = path.dirname(from);
  if (directory === from) throw new Error('the package.json of sampan is missing: reinstall it');
  const file = path.join(directory, 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : readManifest(directory);
}
