import type { KubeletConfig } from '#kubelet';
import { booleanValue, type FlagTable, listValue, numberValue } from './flag-table.ts';

/** Flags of upstream's kubelet, and what a simulated node has. */
export const KUBELET_FLAGS: FlagTable<Partial<KubeletConfig>> = {
  'node-ip': {
    value: 'addresses',
    help: "the node's addresses, at most one of each family",
    apply: (c, value) => ({ ...c, nodeIps: listValue(value) }),
  },
  'node-labels': {
    value: 'labels',
    help: 'labels of the node, as key=value, separated by commas',
    apply: (c, value) => ({ ...c, nodeLabels: pairs(value) }),
  },
  'register-node': {
    value: 'bool',
    help: 'whether the kubelet makes its node',
    apply: (c, value) => ({ ...c, registerNode: booleanValue(value) }),
  },
  'register-schedulable': {
    value: 'bool',
    help: 'whether a new node takes pods',
    apply: (c, value) => ({ ...c, registerSchedulable: booleanValue(value) }),
  },
  'register-with-taints': {
    value: 'taints',
    help: 'taints of a new node, as key=value:effect',
    apply: (c, value) => ({ ...c, registerWithTaints: listValue(value).map(taint) }),
  },
  'provider-id': { value: 'id', help: 'what the cloud calls the machine', apply: (c, value) => ({ ...c, providerId: value }) },
  'max-pods': { value: 'count', help: 'how many pods the node takes', apply: (c, value) => ({ ...c, maxPods: numberValue(value) }) },
  'kube-reserved': {
    value: 'resources',
    help: 'what is not for pods, as name=quantity',
    apply: (c, value) => ({ ...c, reserved: pairs(value) }),
  },
};

function pairs(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    listValue(text).map((pair) => {
      const [key = '', ...rest] = pair.split('=');
      if (key === '' || rest.length === 0) throw new Error(`'${pair}' is not of the form key=value`);
      return [key, rest.join('=')];
    }),
  );
}

function taint(text: string) {
  const [, key = '', value = '', effect = ''] = /^([^=:]+)(?:=([^:]*))?:(\w+)$/.exec(text) ?? [];
  if (key === '') throw new Error(`'${text}' is not of the form key=value:effect`);
  return { key, ...(value && { value }), effect };
}
