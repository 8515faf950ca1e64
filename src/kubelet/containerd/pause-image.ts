import { createHash } from 'node:crypto';
import { type Architecture, pauseProgram } from './pause-program.ts';
import { writeTar } from './tar-writer.ts';

/** Generated locally, not pulled. The tag changes with the program. */
export const PAUSE_IMAGE = 'sampan.local/pause:1';

/** The sandbox image as a `docker save` archive. */
export function pauseArchive(architecture: Architecture): Buffer {
  const layer = writeTar([{ name: 'pause', mode: 0o755, content: pauseProgram(architecture) }]);
  const config = {
    architecture,
    os: 'linux',
    config: { User: '65535:65535', Entrypoint: ['/pause'], WorkingDir: '/' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${createHash('sha256').update(layer).digest('hex')}`] },
  };
  const manifest = [{ Config: 'config.json', RepoTags: [PAUSE_IMAGE], Layers: ['layer.tar'] }];
  return writeTar([
    { name: 'config.json', content: Buffer.from(JSON.stringify(config)) },
    { name: 'layer.tar', content: layer },
    { name: 'manifest.json', content: Buffer.from(JSON.stringify(manifest)) },
  ]);
}
