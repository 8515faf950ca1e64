import { core } from '#api';
import type { ResourceStrategy, SubresourceStrategy } from '../generic/strategy.ts';

type Spec = NonNullable<core.Node['spec']>;
type Status = NonNullable<core.Node['status']>;

function withoutConfigSource({ configSource: _, ...spec }: Spec): Spec {
  return spec;
}

function withoutConfig({ config: _, ...status }: Status): Status {
  return status;
}

/** The status subresource, with the validation of the whole node. */
const status: SubresourceStrategy<core.Node> = {
  verbs: ['get', 'patch', 'update'],
  prepareForUpdate: (node, old) => {
    const status = node.status ?? {};
    return { ...node, ...(old.spec && { spec: old.spec }), status: old.status?.config ? status : withoutConfig(status) };
  },
  validateUpdate: core.validateNodeChange,
};

/** A node may be created with its status. Dynamic kubelet configuration was removed. */
export const nodesStrategy: ResourceStrategy<core.Node> = {
  ...core.nodeBehaviour,
  prepareForCreate: (node) => ({
    ...node,
    ...(node.spec?.configSource && { spec: withoutConfigSource(node.spec) }),
    ...(node.status?.config && { status: withoutConfig(node.status) }),
  }),
  prepareForUpdate: (node, old) => {
    const spec = node.spec?.configSource && !old.spec?.configSource ? withoutConfigSource(node.spec) : node.spec;
    return { ...node, ...(spec && { spec }), ...(old.status && { status: old.status }) };
  },
  fieldLabelError: (field) => `field label not supported: ${field}`,
  resetFields: { '': [['status']], status: [['spec']] },
  subresources: { status },
  location: 'minions',
};
