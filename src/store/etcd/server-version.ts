/** Whether a server's version is at least another; a suffix after a dash is ignored. */
export function atLeastVersion(version: string, least: string): boolean {
  const [a, b] = [parts(version), parts(least)];
  for (let i = 0; i < 3; i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

function parts(version: string): number[] {
  return version.split('-')[0]!.split('.').map(Number);
}
