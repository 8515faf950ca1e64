import type { core } from '#api';

export interface SecretTemplateValues {
  readonly claim: core.PersistentVolumeClaim;
  readonly volumeName: string;
}

type Parameters = Readonly<Record<string, string>>;

interface SecretTemplates {
  readonly name: string;
  readonly namespace: string;
}

/** Parameters from before the prefix: `csiNodeStageSecretName`. */
const DEPRECATED = new Map([
  ['provisioner', 'csiProvisionerSecret'],
  ['controller-publish', 'csiControllerPublishSecret'],
  ['node-stage', 'csiNodeStageSecret'],
  ['node-publish', 'csiNodePublishSecret'],
]);

/**
 * The secret that a class names for a purpose, such as `provisioner` or `node-publish`, with `${pvc.name}` and others substituted. A class may
 * name one for all purposes. Its namespace must not depend on what the owner of the claim chooses, as upstream.
 */
export function templateSecret(
  parameters: Parameters,
  purpose: string,
  { claim, volumeName }: SecretTemplateValues,
): core.SecretReference | undefined {
  const templates = templatesOf(parameters, purpose) ?? templatesOf(parameters, '');
  if (templates === undefined) return undefined;
  const { name, namespace = '', annotations = {} } = claim.metadata;
  const trusted = [['pv.name', volumeName] as const, ['pvc.namespace', namespace] as const];
  const chosen = Object.entries(annotations).map(([key, value]) => [`pvc.annotations['${key}']`, value] as const);
  return {
    name: filled(templates.name, new Map([...trusted, ['pvc.name', name], ...chosen])),
    namespace: filled(templates.namespace, new Map(trusted)),
  };
}

function templatesOf(parameters: Parameters, purpose: string): SecretTemplates | undefined {
  const key = `csi.storage.k8s.io/${purpose && `${purpose}-`}secret`;
  const deprecated = DEPRECATED.get(purpose);
  const values = (part: string, deprecatedPart: string) =>
    [parameters[`${key}-${part}`], deprecated && parameters[deprecated + deprecatedPart]].filter((value) => value !== undefined);
  const names = values('name', 'Name');
  const namespaces = values('namespace', 'Namespace');
  const subject = purpose || 'default';
  if (names.length > 1 || namespaces.length > 1)
    throw new Error(`${subject} secrets specified in parameters with both "csi" and "csi.storage.k8s.io/" keys`);
  if (names.length !== namespaces.length)
    throw new Error(`either name and namespace for ${subject} secrets specified, Both must be specified`);
  const [name] = names;
  const [namespace] = namespaces;
  if (name === undefined || namespace === undefined) return undefined;
  if (name === '' || namespace === '')
    throw new Error(`${subject} secrets specified in parameters but value of either namespace or name is empty`);
  return { name, namespace };
}

export function filled(template: string, values: ReadonlyMap<string, string>): string {
  const unknown = new Set<string>();
  const text = template.replace(/\$\{([^${}]*)\}/g, (_, name: string) => {
    if (!values.has(name)) unknown.add(name);
    return values.get(name) ?? '';
  });
  if (unknown.size === 0) return text;
  const names = [...unknown].sort().map((name) => JSON.stringify(name));
  throw new Error(`error resolving value ${JSON.stringify(template)}: invalid tokens: [${names.join(' ')}]`);
}
