import { type JsonValue, StrictConfigurationReader } from '#machinery';
import type { NodeSelectors } from '../plugins/pod-node-selector.ts';

/** Selectors such as `env=test,disk=ssd` by namespace. */
export function readNodeSelectors(value: JsonValue | undefined): NodeSelectors {
  const reader = new StrictConfigurationReader();
  const selectors = reader.object(reader.object(value, '').podNodeSelectorPluginConfig, 'podNodeSelectorPluginConfig');
  const entries = Object.entries(selectors).map(([namespace, selector]) => {
    return [namespace, reader.text(selector, `podNodeSelectorPluginConfig.${namespace}`, '')] as const;
  });
  reader.throwIfInvalid();
  return new Map(entries);
}
