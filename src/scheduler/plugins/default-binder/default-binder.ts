import { core } from '#api';
import type { PluginFactory } from '../../framework/plugin.ts';
import { failed } from '../../framework/status.ts';

const NAME = 'DefaultBinder';

/** Binds through the API: the server rejects pods that are already bound, or another pod of that name. */
export const defaultBinder: PluginFactory = (_, { client }) => {
  const bindings = client.of(core.Pod).subresource('binding');
  return {
    name: NAME,
    async bind(_state, { pod }, node) {
      const { name, namespace, uid } = pod.metadata;
      const metadata = { name, ...(namespace && { namespace }), ...(uid && { uid }) };
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata, target: { kind: 'Node', name: node.name } };
      try {
        await bindings.create({ name, namespace }, binding);
        return undefined;
      } catch (error) {
        return failed(NAME, error);
      }
    },
  };
};
