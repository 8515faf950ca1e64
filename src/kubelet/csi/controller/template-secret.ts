import type { core } from '#api';

export interface SecretTemplateValues {
  readonly claim: core.PersistentVolumeClaim;
  readonly volumeName: string;
}

/** The secret that a class names for a purpose, such as `provisioner` or `node-publish`, with `${pvc.name}` and others substituted. */
export function templateSecret(
  parameters: Readonly<Record<string, string>>,
  purpose: string,
  { claim, volumeName }: SecretTemplateValues,
): { name: string; namespace: string } | undefined {
  const name = parameters[`csi.storage.k8s.io/${purpose}-secret-name`];
  const namespace = parameters[`csi.storage.k8s.io/${purpose}-secret-namespace`];
  if (name === undefined && namespace === undefined) return undefined;
  if (!name || !namespace) throw new Error(`either name and namespace for ${purpose} secrets specified, Both must be specified`);
  const values = new Map([
    ['pv.name', volumeName],
    ['pvc.name', claim.metadata.name],
    ['pvc.namespace', claim.metadata.namespace ?? ''],
  ]);
  return { name: filled(name, values), namespace: filled(namespace, values) };
}

function filled(template: string, values: ReadonlyMap<string, string>): string {
  return template.replace(/\$\{([^${}]*)\}/g, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`error resolving value "${template}": unknown token "${name}"`);
    return value;
  });
}
