export interface BuildInfo {
  readonly commit: string;
  readonly treeState: 'clean' | 'dirty' | '';
  readonly date: string;
}

export function currentCommit(root?: string): { commit: string; seconds: string };
export function buildInfo(options?: { root?: string; env?: Readonly<Record<string, string | undefined>> }): BuildInfo;
