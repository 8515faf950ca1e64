import { spawn } from 'node:child_process';
import type { Clock } from '#base';
import { parseTime } from '#machinery';

/** A credential plugin, as in a kubeconfig's `exec`. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args?: readonly string[];
  /** Set in addition to `baseEnv`. */
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  /** The environment of the plugin. */
  readonly baseEnv?: Readonly<Record<string, string | undefined>>;
  readonly installHint?: string;
  readonly interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
  /** Whether standard input is a terminal. */
  readonly isInteractive?: boolean;
  /** Passed to the plugin if provideClusterInfo is set. */
  readonly cluster?: Readonly<Record<string, unknown>>;
}

export interface ExecCredential {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly expiresAtMs: number;
}

/** Far more than tokens and chains of certificates need. */
const MAX_OUTPUT_BYTES = 1 << 20;

/** Runs the plugin when credentials are needed, have expired or were rejected. */
export class ExecCredentials {
  #current: ExecCredential | undefined;
  #running: Promise<ExecCredential> | undefined;

  constructor(
    private readonly plugin: ExecPlugin,
    private readonly clock: Clock,
  ) {}

  async get(): Promise<ExecCredential> {
    if (this.#current && this.#current.expiresAtMs > this.clock.now()) return this.#current;
    this.#running ??= runPlugin(this.plugin).finally(() => {
      this.#running = undefined;
    });
    this.#current = await this.#running;
    return this.#current;
  }

  /** The server rejected the credentials. */
  markBadCredentials(): void {
    this.#current = undefined;
  }
}

const KNOWN_VERSIONS: readonly string[] = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

async function runPlugin(plugin: ExecPlugin): Promise<ExecCredential> {
  const { apiVersion, command, interactiveMode = 'IfAvailable', isInteractive = false } = plugin;
  if (!KNOWN_VERSIONS.includes(apiVersion)) throw new Error(`exec plugin: invalid apiVersion ${JSON.stringify(apiVersion)}`);
  if (interactiveMode === 'Always' && !isInteractive) {
    throw new Error(`exec plugin cannot support interactive mode: standard input is not a terminal`);
  }
  const output = await run(plugin, isInteractive && interactiveMode !== 'Never');
  return credentialFrom(output, { apiVersion, command });
}

function run(plugin: ExecPlugin, interactive: boolean): Promise<string> {
  const { apiVersion, command, args = [], env = [], baseEnv = {}, cluster, installHint } = plugin;
  const info = { kind: 'ExecCredential', apiVersion, spec: { interactive, ...(cluster && { cluster }) } };
  const own = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...baseEnv, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
      stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
    });
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_OUTPUT_BYTES) return void chunks.push(chunk);
      child.kill('SIGKILL');
      // Its children may hold the pipe.
      child.stdout?.destroy();
      reject(new Error(`exec: executable ${command} wrote more than ${MAX_OUTPUT_BYTES} bytes`));
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      const detail = error.code === 'ENOENT' ? `exec: executable ${command} not found` : `exec: ${error.message}`;
      reject(new Error(installHint ? `${detail}\n\n${installHint}` : detail, { cause: error }));
    });
    child.on('close', (code) => {
      if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
      else reject(new Error(`exec: executable ${command} failed with exit code ${code}`));
    });
  });
}

interface PluginOutput {
  readonly apiVersion?: string;
  readonly status?: {
    readonly token?: string;
    readonly clientCertificateData?: string;
    readonly clientKeyData?: string;
    readonly expirationTimestamp?: string;
  };
}

function credentialFrom(output: string, { apiVersion, command }: { apiVersion: string; command: string }): ExecCredential {
  const answer = parsed(output, command);
  if (answer.apiVersion !== apiVersion) {
    throw new Error(`exec plugin is configured to use API version ${apiVersion}, plugin returned version ${answer.apiVersion}`);
  }
  if (!answer.status) throw new Error("exec plugin didn't return a status field");
  const wrong = STATUS_FIELDS.find((name) => !['string', 'undefined'].includes(typeof (answer.status?.[name] ?? undefined)));
  if (wrong !== undefined) throw new Error(`decoding stdout of ${command}: status.${wrong} is no string`);
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = answer.status;
  if (!token && !cert && !key) throw new Error("exec plugin didn't return a token or cert/key pair");
  if (Boolean(cert) !== Boolean(key)) throw new Error('exec plugin returned only certificate or key, not both');
  const expiresAtMs = expirationTimestamp ? parseTime(expirationTimestamp) : Infinity;
  return { expiresAtMs, ...(token && { token }), ...(cert && { cert }), ...(key && { key }) };
}

const STATUS_FIELDS = ['token', 'clientCertificateData', 'clientKeyData', 'expirationTimestamp'] as const;

function parsed(output: string, command: string): PluginOutput {
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch (error) {
    throw new Error(`decoding stdout of ${command}: ${(error as Error).message}`, { cause: error });
  }
  if (typeof answer !== 'object' || answer === null) throw new Error(`decoding stdout of ${command}: not an ExecCredential`);
  return answer as PluginOutput;
}
