import { readFile } from 'node:fs/promises';
import type { Clock } from '#base';
import type { ConnectionConfig, CredentialConfig, Impersonation } from './connection-config.ts';
import { ExecCredentials } from './exec-plugin.ts';

/** How often token files are re-read, as upstream. */
const TOKEN_FILE_PERIOD_MS = 60_000;

/** The client's credentials for the TLS handshake and for request headers. */
export class Credentials {
  readonly #config: CredentialConfig;
  readonly #impersonation: Readonly<Record<string, string | string[]>>;
  readonly #exec: ExecCredentials | undefined;
  #fileToken: { readonly token: string; readonly readAtMs: number } | undefined;

  constructor(
    { credentials = {}, impersonate }: ConnectionConfig,
    private readonly clock: Clock,
  ) {
    this.#config = credentials;
    this.#exec = credentials.exec && new ExecCredentials(credentials.exec, clock);
    this.#impersonation = impersonate ? impersonationHeaders(impersonate) : {};
  }

  async certificate(): Promise<{ readonly cert?: string; readonly key?: string }> {
    const { cert, key } = this.#config.cert ? this.#config : ((await this.#exec?.get()) ?? {});
    return { ...(cert && { cert }), ...(key && { key }) };
  }

  async headers(): Promise<Record<string, string | string[]>> {
    const authorization = await this.#authorization();
    return { ...(authorization && { authorization }), ...this.#impersonation };
  }

  /** The server responded with 401. True if new credentials are available and a retry makes sense. */
  markBadCredentials(): boolean {
    this.#exec?.markBadCredentials();
    const wasFile = this.#fileToken !== undefined;
    this.#fileToken = undefined;
    return this.#exec !== undefined || wasFile;
  }

  async #authorization(): Promise<string | undefined> {
    const { token, tokenFile, tokenSource, basic } = this.#config;
    if (tokenSource) return `Bearer ${await tokenSource()}`;
    if (tokenFile) return `Bearer ${await this.#readToken(tokenFile)}`;
    if (token) return `Bearer ${token}`;
    if (basic) return `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;
    const execToken = (await this.#exec?.get())?.token;
    return execToken && `Bearer ${execToken}`;
  }

  async #readToken(path: string): Promise<string> {
    const now = this.clock.now();
    if (this.#fileToken === undefined || now - this.#fileToken.readAtMs >= TOKEN_FILE_PERIOD_MS) {
      this.#fileToken = { token: (await readFile(path, 'utf8')).trim(), readAtMs: now };
    }
    return this.#fileToken.token;
  }
}

function impersonationHeaders({ user, uid, groups = [], extra = {} }: Impersonation): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { 'impersonate-user': user };
  if (uid) headers['impersonate-uid'] = uid;
  if (groups.length > 0) headers['impersonate-group'] = [...groups];
  for (const [key, values] of Object.entries(extra)) headers[`impersonate-extra-${encodeURIComponent(key.toLowerCase())}`] = [...values];
  return headers;
}
