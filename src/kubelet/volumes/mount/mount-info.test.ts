import { describe, expect, it } from 'vitest';
import { parseMountInfo } from './mount-info.ts';

describe('mountinfo', () => {
  it('is read with escapes, optional fields and without them', () => {
    const text = [
      '36 35 98:0 /mnt1 /mnt2/a\\040b rw,noatime master:1 - ext3 /dev/root rw,errors=continue,prjquota',
      '37 35 0:44 / /sys/fs/x ro,nosuid shared:7 master:1 propagate_from:2 - tmpfs tmpfs rw,seclabel',
      '38 35 0:45 / /plain rw - proc proc rw',
      '',
    ].join('\n');
    const plain = { readOnly: false, shared: false, seLinuxLabels: false, projectQuota: false };
    expect(parseMountInfo(text)).toEqual([
      { ...plain, id: 36, device: '98:0', root: '/mnt1', path: '/mnt2/a b', fsType: 'ext3', source: '/dev/root', projectQuota: true },
      {
        ...{ id: 37, device: '0:44', root: '/', path: '/sys/fs/x', fsType: 'tmpfs', source: 'tmpfs' },
        ...{ readOnly: true, shared: true, seLinuxLabels: true, projectQuota: false },
      },
      { ...plain, id: 38, device: '0:45', root: '/', path: '/plain', fsType: 'proc', source: 'proc' },
    ]);
  });

  it('is an error when a line cannot be read', () => {
    expect(() => parseMountInfo('36 35 98:0 /a /b rw')).toThrow('unreadable line');
  });
});
