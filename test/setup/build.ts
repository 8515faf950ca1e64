import { ensureBuilt } from '../../scripts/build.mjs';

/** Tests that drive the program from outside drive what is built. */
export async function setup(): Promise<void> {
  await ensureBuilt();
}
