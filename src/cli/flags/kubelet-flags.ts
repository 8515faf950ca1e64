import type { LinuxKubeletConfig } from '#kubelet';
import { booleanValue, type FlagTable, listValue } from './flag-table.ts';
import { KUBELET_CONFIGURATION_FLAGS, pairsValue } from './kubelet-configuration-flags.ts';

/** kubelet flags. */
export const KUBELET_FLAGS: FlagTable<Partial<LinuxKubeletConfig>> = {
  'node-ip': {
    value: 'addresses',
    help: "the node's addresses, at most one of each family",
    apply: (c, value) => ({ ...c, nodeIps: listValue(value) }),
  },
  'node-labels': {
    value: 'labels',
    help: 'labels of the node, as key=value, separated by commas',
    apply: (c, value) => ({ ...c, nodeLabels: pairsValue(value) }),
  },
  'register-schedulable': {
    value: 'bool',
    help: 'whether a new node takes pods',
    apply: (c, value) => ({ ...c, registerSchedulable: booleanValue(value) }),
  },
  'register-with-taints': {
    value: 'taints',
    help: 'taints of a new node, as key=value:effect',
    apply: (c, value) => ({ ...c, configuration: { ...c.configuration, registerWithTaints: listValue(value).map(taint) } }),
  },
  'root-dir': { value: 'directory', help: "where the node keeps its pods' files", apply: (c, value) => ({ ...c, rootDir: value }) },
  ...KUBELET_CONFIGURATION_FLAGS,
};

function taint(text: string) {
  const [, key = '', value = '', effect = ''] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(text) ?? [];
  if (key === '') throw new Error(`'${text}' is not of the form key=value:effect`);
  return { key, ...(value && { value }), effect };
}
