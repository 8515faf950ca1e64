import { runProgram } from '#base';

/** The machine's ids for the user namespaces of pods. */
export interface IdRange {
  readonly firstId: number;
  readonly length: number;
}

const USER = 'kubelet';
const MAX_ID = 2 ** 32 - 1;

/** Runs a program, and resolves to what it printed. */
type Run = (program: string, args: readonly string[]) => Promise<string>;

/**
 * The ids reserved for pods: the subordinate ids of the user `kubelet`. Undefined: that user or getsubids (shadow-utils) does not exist. A
 * user without ids is an error: a service that is unavailable may manage them.
 */
export async function subordinateIds(run: Run = runProgram): Promise<IdRange | undefined> {
  if (!(await exists(() => run('id', ['-u', USER])))) return undefined;
  const readIds = (idKind: string, ...args: readonly string[]) =>
    run('getsubids', args).catch((error: Error) => {
      if ((error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return undefined;
      throw new Error(`error retrieving additional ${idKind} for user "${USER}": ${error.message}`, { cause: error });
    });
  const uids = await readIds('uids', USER);
  if (uids === undefined) return undefined;
  if (uids !== (await readIds('gids', '-g', USER))) throw new Error(`mismatched subuids and subgids for user "${USER}"`);
  return parseRange(uids);
}

async function exists(look: () => Promise<unknown>): Promise<boolean> {
  try {
    await look();
    return true;
  } catch {
    return false;
  }
}

/** `0: kubelet 65536 2147483648`, as one line. */
function parseRange(output: string): IdRange {
  const quoted = JSON.stringify(output);
  const lines = output.trim().split('\n');
  if (lines.length !== 1) throw new Error(`error parsing line ${quoted}: it must contain only one line`);
  const parts = lines[0]!.trim().split(/\s+/);
  if (parts.length !== 4) throw new Error(`invalid line ${quoted}`);
  const [firstId, length] = parts.slice(2).map(Number);
  const isId = (id: number | undefined): id is number => Number.isInteger(id) && id! >= 0 && id! <= MAX_ID;
  if (!isId(firstId) || !isId(length)) throw new Error(`error parsing line ${quoted}: ids are numbers below 2^32`);
  return { firstId, length };
}
