/** One line of /proc/self/mountinfo. */
export interface MountPoint {
  readonly id: number;
  readonly device: string;
  /** The mounted directory of the file system: `/` unless it is a bind mount. */
  readonly root: string;
  readonly path: string;
  readonly fsType: string;
  readonly source: string;
  readonly readOnly: boolean;
  /** Shared propagation: mounts below it appear in its copies, such as a container's. */
  readonly shared: boolean;
  /** Files have individual SELinux labels. */
  readonly seLinuxLabels: boolean;
  /** The file system has project quotas enabled. */
  readonly projectQuota: boolean;
}

/** Parses /proc/self/mountinfo (proc(5)). Malformed lines are an error: a missed mount would be leaked. */
export function parseMountInfo(text: string): MountPoint[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map(parseLine);
}

function parseLine(line: string): MountPoint {
  const fields = line.split(' ');
  // The separator follows any number of optional fields.
  const separator = fields.indexOf('-', 6);
  const [id, , device, root, path, options] = fields;
  const [fsType, source, superOptions = ''] = separator < 0 ? [] : fields.slice(separator + 1);
  if (id === undefined || device === undefined || root === undefined || path === undefined || fsType === undefined) {
    throw new Error(`unreadable line of mountinfo: ${line}`);
  }
  return {
    id: Number(id),
    device,
    root: unescapeOctal(root),
    path: unescapeOctal(path),
    fsType,
    source: unescapeOctal(source ?? ''),
    readOnly: (options ?? '').split(',').includes('ro'),
    shared: fields.slice(6, separator).some((tag) => tag.startsWith('shared:')),
    seLinuxLabels: superOptions.split(',').includes('seclabel'),
    projectQuota: superOptions.split(',').includes('prjquota'),
  };
}

/** The kernel escapes space, tab, newline and backslash in octal. */
function unescapeOctal(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
