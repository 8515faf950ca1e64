export { type Dialer, DialingAgent, type DialTarget, dialedConnection, targetText } from './dialer.ts';
export { type ConnectProxy, httpConnectDialer } from './http-connect.ts';
