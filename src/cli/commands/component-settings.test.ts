import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CliContext } from '../context.ts';
import { componentSettings } from './component-settings.ts';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

describe('a KubeletConfiguration of `sampan up`', () => {
  let cwd: string;
  let notes: string[];
  const settings = (...kubeletArg: readonly string[]) => {
    const context = { cwd, note: (sentence: string) => void notes.push(sentence) } as unknown as CliContext;
    return componentSettings({ kubeletArg }, context).kubelet;
  };

  beforeEach(async () => {
    notes = [];
    cwd = await mkdtemp(path.join(os.tmpdir(), 'kubelet-file-'));
  });
  afterEach(() => rm(cwd, { recursive: true }));

  it('sets fields that have no flag; flags override it, wherever they stand', async () => {
    await writeFile(path.join(cwd, 'kubelet.yaml'), `${HEAD}shutdownGracePeriod: 30s\nmaxPods: 20\nserializeImagePulls: false\n`);
    expect(settings('max-pods=30', 'config=kubelet.yaml', 'serialize-image-pulls=true')?.configuration).toMatchObject({
      shutdownGracePeriod: '30s',
      maxPods: 30,
      serializeImagePulls: true,
    });
  });

  it('that upstream rejects is an error', async () => {
    await writeFile(path.join(cwd, 'kubelet.yaml'), `${HEAD}maxOpenFiles: -1\n`);
    expect(() => settings('config=kubelet.yaml')).toThrow('--config: failed to validate kubelet configuration, error: ');
  });

  it('says which fields have no effect', async () => {
    await writeFile(path.join(cwd, 'kubelet.yaml'), `${HEAD}volumePluginDir: /plugins\n`);
    settings('config=kubelet.yaml');
    expect(notes).toEqual(['volumePluginDir has no effect here: flex volumes are not supported']);
  });
});
