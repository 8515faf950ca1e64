import { type Clock, field, GrpcClient, type Method, message, repeated } from '#base';

/** Annotations of the plugin, returned to it for decryption. */
const Annotation = message({ key: field(1, 'string'), value: field(2, 'bytes') });

const StatusRequest = message({});
const StatusResponse = message({ version: field(1, 'string'), healthz: field(2, 'string'), keyId: field(3, 'string') });
const DecryptRequest = message({
  ciphertext: field(1, 'bytes'),
  uid: field(2, 'string'),
  keyId: field(3, 'string'),
  annotations: repeated(4, Annotation),
});
const DecryptResponse = message({ plaintext: field(1, 'bytes') });
const EncryptRequest = message({ plaintext: field(1, 'bytes'), uid: field(2, 'string') });
const EncryptResponse = message({ ciphertext: field(1, 'bytes'), keyId: field(2, 'string'), annotations: repeated(3, Annotation) });

export type KmsAnnotations = readonly { readonly key: string; readonly value: Uint8Array }[];

/** `v2.KeyManagementService`. */
export const KMS_METHODS = {
  status: { name: 'v2.KeyManagementService/Status', request: StatusRequest, response: StatusResponse },
  decrypt: { name: 'v2.KeyManagementService/Decrypt', request: DecryptRequest, response: DecryptResponse },
  encrypt: { name: 'v2.KeyManagementService/Encrypt', request: EncryptRequest, response: EncryptResponse },
} as const;

/** The stored form: `kmsv2.EncryptedObject`. */
export const EncryptedObject = message({
  encryptedData: field(1, 'bytes'),
  keyId: field(2, 'string'),
  encryptedDekSource: field(3, 'bytes'),
  annotations: repeated(4, Annotation),
  encryptedDekSourceType: field(5, 'int32'),
});

export interface KmsEncrypted {
  readonly keyId: string;
  readonly ciphertext: Uint8Array;
  readonly annotations: KmsAnnotations;
}

/** A key management plugin at a unix socket. */
export class KmsService implements Disposable {
  readonly #client: GrpcClient;

  constructor(
    endpoint: string,
    private readonly timeoutMs: number,
    clock: Clock,
  ) {
    this.#client = new GrpcClient({ endpoint, clock });
  }

  status(signal?: AbortSignal) {
    return this.#call(KMS_METHODS.status, {}, signal);
  }

  encrypt(plaintext: Uint8Array, uid: string): Promise<KmsEncrypted> {
    return this.#call(KMS_METHODS.encrypt, { plaintext, uid });
  }

  async decrypt({ ciphertext, keyId, annotations }: KmsEncrypted, uid: string): Promise<Uint8Array> {
    const { plaintext } = await this.#call(KMS_METHODS.decrypt, { ciphertext, uid, keyId, annotations });
    return plaintext;
  }

  #call<Request, Response>(method: Method<Request, Response>, request: Request, signal?: AbortSignal): Promise<Response> {
    return this.#client.unary(method, request, { timeoutMs: this.timeoutMs, ...(signal && { signal }) });
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}
