#!/usr/bin/perl
# Begins SCTP associations by hand: kernels often lack the protocol, but forward and translate its packets all the same.
#   sctp-endpoint.pl listen FAMILY PORT NAME      answers each INIT with an INIT ACK whose cookie is the name
#   sctp-endpoint.pl connect FAMILY HOST PORT MS  sends an INIT, prints the name in the answer, or `timeout`
use strict;
use warnings;
use Socket qw(AF_INET AF_INET6 SOCK_RAW inet_pton pack_sockaddr_in pack_sockaddr_in6);

my ($SCTP, $INIT, $INIT_ACK, $COOKIE) = (132, 1, 2, 7);
my @table = map { my $c = $_; $c = $c & 1 ? 0x82F63B78 ^ ($c >> 1) : $c >> 1 for 1 .. 8; $c } 0 .. 255;

sub crc32c {
  my $crc = 0xFFFFFFFF;
  $crc = $table[($crc ^ $_) & 0xFF] ^ ($crc >> 8) for unpack 'C*', shift;
  return $crc ^ 0xFFFFFFFF;
}

# A packet with one chunk; the checksum is little-endian, all else is not.
sub packet {
  my ($from, $to, $tag, $type, $cookie) = @_;
  my $parameter = $cookie eq '' ? '' : pack('nn', $COOKIE, 4 + length $cookie) . $cookie . "\0" x (-length($cookie) % 4);
  my $value = pack('NNnnN', 0x1234ABCD, 65536, 1, 1, 1) . $parameter;
  my $body = pack('CCn', $type, 0, 4 + length $value) . $value;
  my $head = pack 'nnN', $from, $to, $tag;
  return $head . pack('V', crc32c($head . "\0\0\0\0" . $body)) . $body;
}

# Raw sockets of IPv4 see the header of the packet.
sub receive {
  my ($socket, $family) = @_;
  my $bytes;
  my $from = recv($socket, $bytes, 2048, 0);
  my $data = $family == 4 ? substr($bytes, 4 * (ord($bytes) & 15)) : $bytes;
  my ($source, $target, $tag, undef, $type) = unpack 'nnNNC', $data;
  return { from => $from, source => $source, target => $target, type => $type, init => unpack('N', substr $data, 16), data => $data };
}

my ($command, $family, @rest) = @ARGV;
my $socket;
socket($socket, $family == 4 ? AF_INET : AF_INET6, SOCK_RAW, $SCTP) or die "no raw socket: $!";
$| = 1;
if ($command eq 'listen') {
  my ($port, $name) = @rest;
  print "ready\n";
  while (1) {
    my $got = receive($socket, $family);
    next unless $got->{target} == $port && $got->{type} == $INIT;
    my $to = $family == 4 ? $got->{from} : pack_sockaddr_in6(0, (Socket::unpack_sockaddr_in6($got->{from}))[1]);
    send $socket, packet($port, $got->{source}, $got->{init}, $INIT_ACK, $name), 0, $to;
  }
}
my ($host, $port, $ms) = @rest;
my $address = inet_pton($family == 4 ? AF_INET : AF_INET6, $host);
my $to = $family == 4 ? pack_sockaddr_in(0, $address) : pack_sockaddr_in6(0, $address);
my $own = 20000 + int rand 20000;
local $SIG{ALRM} = sub { print "timeout\n"; exit 0 };
require Time::HiRes;
Time::HiRes::alarm($ms / 1000);
defined send($socket, packet($own, $port, 0, $INIT, ''), 0, $to) or do { print "refused\n"; exit 0 };
while (1) {
  my $got = receive($socket, $family);
  next unless $got->{target} == $own && $got->{type} == $INIT_ACK;
  my ($length) = unpack 'n', substr $got->{data}, 34;
  print substr($got->{data}, 36, $length - 4), "\n";
  exit 0;
}
