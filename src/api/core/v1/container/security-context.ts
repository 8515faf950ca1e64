import { bool, field, type Infer, int64, listOf, named, object, pointer, required, string, union } from '../../../schema.ts';

export const Capabilities = object('io.k8s.api.core.v1.Capabilities', 'Linux capabilities to add and to drop.', {
  add: field(1, listOf(named('v1.Capability')), 'Capabilities to add.'),
  drop: field(2, listOf(named('v1.Capability')), 'Capabilities to drop.'),
});
export type Capabilities = Infer<typeof Capabilities>;

export const SELinuxOptions = object('io.k8s.api.core.v1.SELinuxOptions', 'SELinux labels.', {
  user: field(1, string, 'The user label.'),
  role: field(2, string, 'The role label.'),
  type: field(3, string, 'The type label.'),
  level: field(4, string, 'The level label.'),
});
export type SELinuxOptions = Infer<typeof SELinuxOptions>;

export const WindowsSecurityContextOptions = object('io.k8s.api.core.v1.WindowsSecurityContextOptions', 'Security settings for Windows.', {
  gmsaCredentialSpecName: pointer(1, string, 'The name of the GMSA credential spec.'),
  gmsaCredentialSpec: pointer(2, string, 'The GMSA credential spec itself.'),
  runAsUserName: pointer(3, string, 'The user to run as.'),
  hostProcess: pointer(4, bool, 'Whether it runs as a process of the host.'),
});
export type WindowsSecurityContextOptions = Infer<typeof WindowsSecurityContextOptions>;

export const SeccompProfile = union(
  object('io.k8s.api.core.v1.SeccompProfile', 'Which system calls are allowed.', {
    type: required(1, named('v1.SeccompProfileType'), 'Unconfined, RuntimeDefault, or Localhost for a file of the node.'),
    localhostProfile: pointer(2, string, 'The file, for Localhost.'),
  }),
  { discriminator: 'type', fields: ['localhostProfile'] },
);
export type SeccompProfile = Infer<typeof SeccompProfile>;

export const AppArmorProfile = union(
  object('io.k8s.api.core.v1.AppArmorProfile', 'An AppArmor profile.', {
    type: required(1, named('v1.AppArmorProfileType'), 'Unconfined, RuntimeDefault, or Localhost for one loaded on the node.'),
    localhostProfile: pointer(2, string, 'The profile, for Localhost.'),
  }),
  { discriminator: 'type', fields: ['localhostProfile'] },
);
export type AppArmorProfile = Infer<typeof AppArmorProfile>;

export const SecurityContext = object('io.k8s.api.core.v1.SecurityContext', 'Security settings of a container.', {
  capabilities: pointer(1, Capabilities, 'Linux capabilities to add or drop.'),
  privileged: pointer(2, bool, 'If true, processes have the rights of root on the node.'),
  seLinuxOptions: pointer(3, SELinuxOptions, 'SELinux labels of the container.'),
  windowsOptions: pointer(10, WindowsSecurityContextOptions, 'Settings for Windows containers.'),
  runAsUser: pointer(4, int64, "The user id to run as; the image's by default."),
  runAsGroup: pointer(8, int64, 'The group id to run as.'),
  runAsNonRoot: pointer(5, bool, 'If true, the container is not started as root.'),
  readOnlyRootFilesystem: pointer(6, bool, "If true, the image's files cannot be changed."),
  allowPrivilegeEscalation: pointer(7, bool, 'If false, processes cannot gain rights that their parent does not have.'),
  procMount: pointer(9, named('v1.ProcMountType'), 'How /proc is mounted: Default or Unmasked.'),
  seccompProfile: pointer(11, SeccompProfile, 'Which system calls are allowed.'),
  appArmorProfile: pointer(12, AppArmorProfile, 'The AppArmor profile.'),
});
export type SecurityContext = Infer<typeof SecurityContext>;
