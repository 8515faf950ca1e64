import { field, message } from '#base';

/** The network proxy's protocol: `ProxyService/Proxy`, a stream of packets in both directions. */
export const PROXY_METHOD = 'ProxyService/Proxy';

export const PACKET = { dialRequest: 0, dialResponse: 1, closeRequest: 2, closeResponse: 3, data: 4, dialClose: 5, drain: 6 } as const;

export const Packet = message({
  type: field(1, 'int32'),
  dialRequest: field(2, message({ protocol: field(1, 'string'), address: field(2, 'string'), random: field(3, 'exact64') })),
  dialResponse: field(3, message({ error: field(1, 'string'), connectId: field(2, 'exact64'), random: field(3, 'exact64') })),
  data: field(4, message({ connectId: field(1, 'exact64'), error: field(2, 'string'), data: field(3, 'bytes') })),
  closeRequest: field(5, message({ connectId: field(1, 'exact64') })),
  closeResponse: field(6, message({ error: field(1, 'string'), connectId: field(2, 'exact64') })),
  dialClose: field(7, message({ random: field(1, 'exact64') })),
});
