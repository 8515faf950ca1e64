import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type Clock, ProgramError, runProgram } from '#base';
import { messageOf } from '../volume-plugin.ts';

/** A LUN of a target and the settings to reach it. */
export interface IscsiTarget {
  /** As address:port. */
  readonly portals: readonly string[];
  readonly iqn: string;
  readonly lun: number;
  readonly iface: string;
  /** The interface that `iface` is copied from if the disk has an initiator name. */
  readonly baseIface: string;
  readonly initiatorName?: string | undefined;
  readonly chapDiscovery: boolean;
  readonly chapSession: boolean;
  readonly secrets: Readonly<Record<string, string>>;
}

const LOGIN_TIMEOUT_MS = 150_000;
const DEVICE_TRIES = 10;
const DEVICE_WAIT_MS = 1_000;
/** Exit codes of iscsiadm: the session exists, or there is no such record or session. */
const SESSION_EXISTS = 15;
const NO_OBJECTS = 21;
const CHAP_MEMBERS = ['username', 'password', 'username_in', 'password_in'];

export interface IscsiadmOptions {
  /** Of each call. Default: 150 seconds, for targets that are slow to answer. */
  readonly timeoutMs?: number;
  readonly program?: string;
  /** The directory of device links by path. */
  readonly devices?: string;
}

/** The iSCSI initiator of this machine, through open-iscsi's command-line tool. */
export class Iscsiadm {
  readonly #program: string;
  readonly #devices: string;
  readonly #timeoutMs: number;

  constructor(
    private readonly clock: Clock,
    { program = 'iscsiadm', devices = '/dev/disk/by-path', timeoutMs = LOGIN_TIMEOUT_MS }: IscsiadmOptions = {},
  ) {
    this.#timeoutMs = timeoutMs;
    this.#program = program;
    this.#devices = devices;
  }

  /** Creates the target's interface if it needs its own. Rejects on machines without iSCSI. */
  async prepareInterface({ iface, baseIface, initiatorName }: IscsiTarget): Promise<void> {
    const text = await this.#run(['-m', 'iface', '-I', baseIface, '-o', 'show']);
    if (initiatorName === undefined || iface === baseIface) return;
    const change = ['-m', 'iface', '-I', iface];
    await this.#run([...change, '-o', 'new']).catch(ignore(SESSION_EXISTS));
    const settings = new Map<string, string>();
    for (const line of text.split('\n')) {
      const [name = '', value = ''] = line.split(' = ', 2);
      if (name.startsWith('iface.') && value !== '<empty>') settings.set(name, value);
    }
    settings.delete('iface.iscsi_ifacename');
    settings.set('iface.initiatorname', initiatorName);
    for (const [name, value] of settings) if (value !== '<empty>') await this.#run([...change, '-o', 'update', '-n', name, '-v', value]);
  }

  /** Resolves to the disk's device. One reachable portal is enough. */
  async logIn(target: IscsiTarget): Promise<string> {
    const paths: string[] = [];
    let problem: unknown;
    for (const portal of target.portals) {
      try {
        paths.push(await this.#logInAt(portal, target));
      } catch (error) {
        problem = error;
      }
    }
    const [path] = paths;
    if (path === undefined) throw new Error(`failed to get any path for iscsi disk, last err seen: ${messageOf(problem)}`);
    return (await multipathDevice(path)) ?? path;
  }

  async logOut({ portals, iqn, iface, baseIface }: IscsiTarget): Promise<void> {
    for (const portal of portals) {
      const node = ['-m', 'node', '-p', portal, '-T', iqn, '-I', iface];
      await this.#run([...node, '--logout']).catch(ignore(NO_OBJECTS));
      await this.#run([...node, '-o', 'delete']).catch(ignore(NO_OBJECTS));
    }
    if (iface !== baseIface) await this.#run(['-m', 'iface', '-I', iface, '-o', 'delete']).catch(ignore(NO_OBJECTS));
  }

  async #logInAt(portal: string, target: IscsiTarget): Promise<string> {
    const { iqn, iface, lun } = target;
    const device = join(this.#devices, `ip-${portal}-iscsi-${iqn}-lun-${lun}`);
    if (await exists(device)) return device;
    const discovery = ['-m', 'discoverydb', '-t', 'sendtargets', '-p', portal, '-I', iface];
    await this.#run([...discovery, '-o', 'new']);
    if (target.chapDiscovery) await this.#useChap([...discovery, '-o', 'update'], 'discovery.sendtargets', target);
    await this.#run([...discovery, '--discover']);
    const node = ['-m', 'node', '-p', portal, '-T', iqn, '-I', iface];
    if (target.chapSession) await this.#useChap([...node, '-o', 'update'], 'node.session', target);
    await this.#run([...node, '--login']).catch(ignore(SESSION_EXISTS));
    // An unreachable target must not block the next boot of the machine.
    await this.#run([...node, '-o', 'update', '-n', 'node.startup', '-v', 'manual']);
    // An existing session does not show LUNs that were added later.
    await this.#run([...node, '--rescan']);
    for (let tries = 0; tries < DEVICE_TRIES; tries++) {
      if (await exists(device)) return device;
      await this.clock.sleep(DEVICE_WAIT_MS);
    }
    throw new Error(`${device} did not appear within ${(DEVICE_TRIES * DEVICE_WAIT_MS) / 1000} seconds`);
  }

  async #useChap(update: readonly string[], prefix: string, { secrets }: IscsiTarget): Promise<void> {
    const set = (name: string, value: string) => this.#run([...update, '-n', `${prefix}.auth.${name}`, '-v', value]);
    await set('authmethod', 'CHAP');
    const values = new Map(Object.entries(secrets));
    for (const member of CHAP_MEMBERS) {
      const value = values.get(`${prefix}.auth.${member}`);
      // The error is shown to users and must not contain the password.
      if (value)
        await set(member, value).catch((error: unknown) => Promise.reject(new Error(`cannot set ${member} of CHAP: ${codeOf(error)}`)));
    }
  }

  async #run(args: readonly string[]): Promise<string> {
    try {
      return await runProgram(this.#program, args, { timeoutMs: this.#timeoutMs });
    } catch (error) {
      if (!(error instanceof ProgramError) || (error.cause as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT') throw error;
      throw new Error(`iSCSI volumes need the program iscsiadm on the node (package open-iscsi): ${error.message}`, { cause: error });
    }
  }
}

function ignore(exitCode: number): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof ProgramError) || error.exitCode !== exitCode) throw error;
  };
}

function codeOf(error: unknown): string {
  return error instanceof ProgramError && error.exitCode !== undefined ? `exit code ${error.exitCode}` : messageOf(error);
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The device-mapper device that combines all paths to the disk, if multipath is configured. */
async function multipathDevice(path: string): Promise<string | undefined> {
  const holders = join('/sys/class/block', basename(await realpath(path)), 'holders');
  const name = (await readdir(holders).catch(() => [])).find((holder) => holder.startsWith('dm-'));
  return name && `/dev/${name}`;
}
