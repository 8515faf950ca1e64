import { field, object, required, string } from '../../schema.ts';

/** The response of `/version`. It has no kind and no protobuf form. */
export const VersionInfo = object('io.k8s.apimachinery.pkg.version.Info', 'The version of a server.', {
  major: required(0, string, 'The major version.'),
  minor: required(0, string, 'The minor version.'),
  emulationMajor: field(0, string, 'The major version that is emulated.'),
  emulationMinor: field(0, string, 'The minor version that is emulated.'),
  minCompatibilityMajor: field(0, string, 'The major version of the oldest that it gets along with.'),
  minCompatibilityMinor: field(0, string, 'The minor version of the oldest that it gets along with.'),
  gitVersion: required(0, string, 'The whole version.'),
  gitCommit: required(0, string, 'The commit that it was built from.'),
  gitTreeState: required(0, string, 'Whether anything was changed since that commit.'),
  buildDate: required(0, string, 'When it was built.'),
  goVersion: required(0, string, 'The version of the language it is written in.'),
  compiler: required(0, string, 'What compiled it.'),
  platform: required(0, string, 'The operating system and the architecture.'),
});
