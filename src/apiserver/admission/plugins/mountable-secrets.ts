import type { core } from '#api';

/** The secrets that pods of a service account may use. */
export interface MountableSecrets {
  readonly account: string;
  readonly secrets: ReadonlySet<string>;
  readonly pullSecrets: ReadonlySet<string>;
}

type Container = Partial<Pick<core.Container, 'name' | 'env' | 'envFrom'>>;

/** The message for the first secret reference that the service account does not allow; undefined if all are allowed. */
export function secretReferenceProblem(pod: core.Pod, allowed: MountableSecrets, ephemeralOnly: boolean): string | undefined {
  const { spec } = pod;
  if (spec === undefined) return undefined;
  if (ephemeralOnly) return containersProblem('ephemeral container', spec.ephemeralContainers ?? [], allowed);
  return (
    volumesProblem(spec.volumes ?? [], allowed) ??
    containersProblem('init container', spec.initContainers ?? [], allowed) ??
    containersProblem('container', spec.containers, allowed) ??
    pullSecretsProblem(spec.imagePullSecrets ?? [], allowed)
  );
}

function volumesProblem(volumes: readonly core.Volume[], { account, secrets }: MountableSecrets): string | undefined {
  const bad = volumes.find(({ secret }) => secret !== undefined && !secrets.has(secret.secretName ?? ''));
  return (
    bad &&
    `volume with secret.secretName="${bad.secret?.secretName}" is not allowed because service account ${account} does not reference that secret`
  );
}

function containersProblem(
  containerType: string,
  containers: readonly Container[],
  { account, secrets }: MountableSecrets,
): string | undefined {
  const suffix = `is not allowed because service account ${account} does not reference that secret`;
  for (const { name, env = [], envFrom = [] } of containers) {
    for (const variable of env) {
      const secret = variable.valueFrom?.secretKeyRef?.name;
      if (secret !== undefined && !secrets.has(secret))
        return `${containerType} ${name} with envVar ${variable.name} referencing secret.secretName="${secret}" ${suffix}`;
    }
    const bad = envFrom.find(({ secretRef }) => secretRef !== undefined && !secrets.has(secretRef.name ?? ''));
    if (bad) return `${containerType} ${name} with envFrom referencing secret.secretName="${bad.secretRef?.name}" ${suffix}`;
  }
  return undefined;
}

function pullSecretsProblem(
  references: readonly core.LocalObjectReference[],
  { account, pullSecrets }: MountableSecrets,
): string | undefined {
  const index = references.findIndex(({ name }) => !pullSecrets.has(name ?? ''));
  if (index < 0) return undefined;
  return `imagePullSecrets[${index}].name="${references[index]?.name}" is not allowed because service account ${account} does not reference that imagePullSecret`;
}
