import { ensureBuilt } from '../../scripts/build.mjs';

/** Tests that run the program use the build. */
export async function setup(): Promise<void> {
  await ensureBuilt();
}
