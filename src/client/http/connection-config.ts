import type { ExecPlugin } from './exec-plugin.ts';

/** How to reach a server and who to be there: what a kubeconfig's context comes to. */
export interface ConnectionConfig {
  /** `https://host:port`, with a path when the API is served below one. */
  readonly server: string;
  /** PEM of the authorities that may have signed the server's certificate. Default: the system's. */
  readonly ca?: string;
  /** Do not check the server's certificate. */
  readonly insecureSkipTlsVerify?: boolean;
  /** The name to expect in the server's certificate, when it is not the host's. */
  readonly tlsServerName?: string;
  readonly credentials?: CredentialConfig;
  readonly impersonate?: Impersonation;
}

/** At most one way to be known, but for a certificate, which can come with any. */
export interface CredentialConfig {
  /** PEM. */
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
  /** A file whose content is the token; read again from time to time, as tokens are renewed in place. Wins over `token`. */
  readonly tokenFile?: string;
  /** Asked for the token of every request: it keeps and renews it. Wins over the others. */
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
