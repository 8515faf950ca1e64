import { describe, expect, it } from 'vitest';
import { CreateVolume, NodeGetInfo, NodePublishVolume } from './messages.ts';

describe('the messages of CSI', () => {
  it('are read as they were written', () => {
    const info = { nodeId: 'n', maxVolumesPerNode: 7, accessibleTopology: { segments: { zone: 'a' } } };
    expect(NodeGetInfo.response.decode(NodeGetInfo.response.encode(info))).toEqual(info);
    const publish = NodePublishVolume.request.decode(
      NodePublishVolume.request.encode({
        volumeId: 'v',
        volumeCapability: { mount: { fsType: 'ext4', mountFlags: ['ro'] }, accessMode: { mode: 'SINGLE_NODE_WRITER' } },
        readonly: true,
        volumeContext: { a: 'b' },
      }),
    );
    expect(publish).toMatchObject({ volumeId: 'v', readonly: true, volumeContext: { a: 'b' }, secrets: {} });
    expect(publish.volumeCapability).toMatchObject({
      mount: { fsType: 'ext4', mountFlags: ['ro'] },
      accessMode: { mode: 'SINGLE_NODE_WRITER' },
    });
    expect(CreateVolume.response.decode(new Uint8Array())).toEqual({});
  });
});
