import { atomic, bool, field, type Infer, inlined, object, pointer, required, string } from '../../../schema.ts';
import { LocalObjectReference } from '../reference/local-object-reference.ts';
import { ObjectFieldSelector } from './object-field-selector.ts';
import { ResourceFieldSelector } from './resource-field-selector.ts';

export const ConfigMapEnvSource = object('io.k8s.api.core.v1.ConfigMapEnvSource', 'A ConfigMap whose every key becomes a variable.', {
  ...inlined(1, LocalObjectReference),
  optional: pointer(2, bool, 'Whether it may be missing.'),
});
export type ConfigMapEnvSource = Infer<typeof ConfigMapEnvSource>;

export const SecretEnvSource = object('io.k8s.api.core.v1.SecretEnvSource', 'A Secret whose every key becomes a variable.', {
  ...inlined(1, LocalObjectReference),
  optional: pointer(2, bool, 'Whether it may be missing.'),
});
export type SecretEnvSource = Infer<typeof SecretEnvSource>;

export const EnvFromSource = object('io.k8s.api.core.v1.EnvFromSource', 'Variables from every key of an object.', {
  prefix: field(1, string, 'What to put before each key.'),
  configMapRef: pointer(2, ConfigMapEnvSource, 'The ConfigMap.'),
  secretRef: pointer(3, SecretEnvSource, 'The Secret.'),
});
export type EnvFromSource = Infer<typeof EnvFromSource>;

export const ConfigMapKeySelector = atomic(
  object('io.k8s.api.core.v1.ConfigMapKeySelector', 'A key of a ConfigMap.', {
    ...inlined(1, LocalObjectReference),
    key: required(2, string, 'The key.'),
    optional: pointer(3, bool, 'Whether it may be missing.'),
  }),
);
export type ConfigMapKeySelector = Infer<typeof ConfigMapKeySelector>;

export const SecretKeySelector = atomic(
  object('io.k8s.api.core.v1.SecretKeySelector', 'A key of a Secret.', {
    ...inlined(1, LocalObjectReference),
    key: required(2, string, 'The key.'),
    optional: pointer(3, bool, 'Whether it may be missing.'),
  }),
);
export type SecretKeySelector = Infer<typeof SecretKeySelector>;

export const FileKeySelector = atomic(
  object('io.k8s.api.core.v1.FileKeySelector', 'A key of a file of variables in a volume.', {
    volumeName: required(1, string, 'The volume.'),
    path: required(2, string, 'The file, relative to the volume.'),
    key: required(3, string, 'The key.'),
    optional: pointer(4, bool, 'Whether it may be missing.', { default: false }),
  }),
);
export type FileKeySelector = Infer<typeof FileKeySelector>;

export const EnvVarSource = object('io.k8s.api.core.v1.EnvVarSource', "The source of a variable's value.", {
  fieldRef: pointer(1, ObjectFieldSelector, 'A field of the pod.'),
  resourceFieldRef: pointer(2, ResourceFieldSelector, "A request or limit of the container's resources."),
  configMapKeyRef: pointer(3, ConfigMapKeySelector, 'A key of a ConfigMap.'),
  secretKeyRef: pointer(4, SecretKeySelector, 'A key of a Secret.'),
  fileKeyRef: pointer(5, FileKeySelector, 'A key of a file in a volume.'),
});
export type EnvVarSource = Infer<typeof EnvVarSource>;

export const EnvVar = object('io.k8s.api.core.v1.EnvVar', 'An environment variable.', {
  name: required(1, string, 'The name of the variable.'),
  value: field(2, string, 'Its value. $(VAR) is replaced by a variable defined before.'),
  valueFrom: pointer(3, EnvVarSource, 'The source of its value, instead of `value`.'),
});
export type EnvVar = Infer<typeof EnvVar>;
