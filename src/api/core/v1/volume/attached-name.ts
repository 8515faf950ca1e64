import type { FCVolumeSource } from './fc-volume-source.ts';

/** The disks that upstream's own plugins attach. */
export interface InTreeDisk {
  readonly iscsi?: { readonly targetPortal: string; readonly iqn: string; readonly lun: number | bigint } | undefined;
  readonly fc?: FCVolumeSource | undefined;
}

const PREFIXES = ['kubernetes.io/iscsi/', 'kubernetes.io/fc/'];

/** The name of an iSCSI or Fibre Channel disk in volumesInUse and volumesAttached of a node's status; undefined for other volumes. */
export function inTreeAttachedName({ iscsi, fc }: InTreeDisk): string | undefined {
  if (iscsi !== undefined) return `kubernetes.io/iscsi/${iscsi.targetPortal}:${iscsi.iqn}:${iscsi.lun}`;
  if (fc?.targetWWNs?.length && fc.lun !== undefined) return `kubernetes.io/fc/[${fc.targetWWNs.join(' ')}]:${fc.lun}`;
  return fc?.wwids?.length ? `kubernetes.io/fc/[${fc.wwids.join(' ')}]` : undefined;
}

export function isInTreeAttachedName(name: string): boolean {
  return PREFIXES.some((prefix) => name.startsWith(prefix));
}
