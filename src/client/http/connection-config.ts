import type { Dialer } from '#base';
import type { ExecPlugin } from './exec-plugin.ts';

/** A server and the credentials for it: a kubeconfig context, resolved. */
export interface ConnectionConfig {
  /** `https://host:port`, with a path when the API is served below one. */
  readonly server: string;
  /** PEM of the CAs of the server. Default: the system's. */
  readonly ca?: string;
  /** Do not verify the server's certificate. */
  readonly insecureSkipTlsVerify?: boolean;
  /** The server name for verification and SNI, if it is not the host. */
  readonly tlsServerName?: string;
  readonly credentials?: CredentialConfig;
  readonly impersonate?: Impersonation;
  /** Connects to the server. Default: directly. */
  readonly dial?: Dialer | undefined;
}

/** At most one kind of credentials; a client certificate can be combined with any. */
export interface CredentialConfig {
  /** PEM. */
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
  /** A file with the token, re-read periodically since tokens are rotated in place. Takes precedence over `token`. */
  readonly tokenFile?: string;
  /** Returns the token for each request; caches and renews it. Takes precedence. */
  readonly tokenSource?: () => Promise<string>;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly exec?: ExecPlugin;
}

export interface Impersonation {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}
