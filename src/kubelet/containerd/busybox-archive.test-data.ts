import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { runProgram } from '#base';
import { architectureOf } from './pause-program.ts';
import { type TarFile, type TarOther, writeTar } from './tar-writer.ts';

/** The test image: Debian's busybox-static with all its applets, in the format of `docker save`. */
export async function busyboxArchive(...names: readonly string[]): Promise<Buffer> {
  const layer = writeTar(await busyboxFiles());
  const config = {
    architecture: architectureOf(process.arch),
    os: 'linux',
    created: '1970-01-01T00:00:00Z',
    config: { Env: ['PATH=/bin'], Cmd: ['sh'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${createHash('sha256').update(layer).digest('hex')}`] },
  };
  const manifest = [{ Config: 'config.json', RepoTags: names.length > 0 ? names : [BUSYBOX], Layers: ['layer.tar'] }];
  return writeTar([
    { name: 'config.json', content: Buffer.from(JSON.stringify(config)) },
    { name: 'manifest.json', content: Buffer.from(JSON.stringify(manifest)) },
    { name: 'layer.tar', content: layer },
  ]);
}

export const BUSYBOX = 'docker.io/library/busybox:1';

async function busyboxFiles(): Promise<readonly (TarFile | TarOther)[]> {
  const applets = (await runProgram('/bin/busybox', ['--list'])).trim().split('\n');
  return [
    ...['./', './bin/', './etc/', './home/', './root/', './var/'].map((name) => ({ name })),
    { name: './tmp/', mode: 0o1777 },
    { name: './bin/busybox', mode: 0o755, content: readFileSync('/bin/busybox') },
    ...applets.filter((applet) => applet !== 'busybox').map((applet) => ({ name: `./bin/${applet}`, linkName: 'busybox' })),
    {
      name: './etc/passwd',
      content: Buffer.from('root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/sh\n'),
    },
    { name: './etc/group', content: Buffer.from('root:x:0:\nnogroup:x:65534:\n') },
  ];
}
