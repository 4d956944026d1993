// What Swift cannot import from OpenSSL: function-like macros, variadics, and the one place where versions differ.
#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/time.h>

static inline EVP_PKEY *copenssl_generate_p256_key(void) {
  return EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
}

static inline int copenssl_only_dtls12(SSL_CTX *context) {
  return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1
      && SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1;
}

static inline int copenssl_set_groups(SSL_CTX *context, const char *groups) {
  return SSL_CTX_set1_groups_list(context, groups) == 1;
}

// No path MTU queries, no resumption (every peer shows its certificate), no renegotiation.
static inline void copenssl_full_handshakes_only(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

// TLS 1.2 or newer with forward secrecy and AEAD; no resumption, no renegotiation, no compression; certificates and keys
// of 112 bits of strength at least; record buffers only while there is something in them.
static inline int copenssl_configure_tls(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_security_level(context, 2);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1
      && SSL_CTX_set_num_tickets(context, 0) == 1
      && SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20:!aNULL:!PSK") == 1;
}

static inline int copenssl_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return SSL_CTX_add1_chain_cert(context, certificate) == 1;
}

static inline int copenssl_set_server_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name) == 1;
}

static inline void copenssl_set_mtu(SSL *ssl, long mtu) {
  DTLS_set_link_mtu(ssl, mtu);
}

static inline int copenssl_handle_timeout(SSL *ssl) {
  return (int)DTLSv1_handle_timeout(ssl);
}

// The retransmission timer. OpenSSL measures it on the wall clock and checks it inside every read. Up to 3.1 the
// `timeval` announced by BIO_CTRL_DGRAM_SET_NEXT_TIMEOUT *is* the timer and lives as long as the SSL object, so the
// timer is set an hour away and expired by hand when the caller's clock says so. From 3.2 on the announced value is a
// copy on the stack, and OpenSSL keeps its own time. All of 3.x are one ABI: which it is, only the library that was loaded
// can say, not the headers.
static inline int copenssl_announces_own_timer(unsigned long version) { return version < 0x30200000UL; }

static inline unsigned int copenssl_timer_duration(SSL *ssl, unsigned int previous) {
  (void)ssl;
  if (copenssl_announces_own_timer(OpenSSL_version_num())) return 3600u * 1000000u;
  if (previous == 0) return 50000;
  return previous >= 1500000 ? 3000000 : previous * 2;
}

// Only for a timer that OpenSSL announced as its own.
static inline void copenssl_expire_timer(void *timer) {
  *(struct timeval *)timer = (struct timeval){.tv_sec = 1, .tv_usec = 0};
}

static inline void copenssl_set_timer(SSL *ssl) {
  DTLS_set_timer_cb(ssl, copenssl_timer_duration);
}

static inline int copenssl_timer_is_running(const void *announced) {
  const struct timeval *time = (const struct timeval *)announced;
  return time->tv_sec != 0 || time->tv_usec != 0;
}

// SHA-1 by its state, which a copy puts back to where a key was taken in. EVP's own ways to that (EVP_MAC_init without a
// key, EVP_MD_CTX_copy_ex, EVP_DigestInit_ex2 again) allocate twice a message in all of 3.0 and take longer. Deprecated
// because providers cannot replace it, which nobody asks for here.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static inline void copenssl_sha1_start(SHA_CTX *state) {
  SHA1_Init(state);
}

static inline void copenssl_sha1_update(SHA_CTX *state, const void *bytes, size_t count) {
  SHA1_Update(state, bytes, count);
}

// `digest` has room for 20 bytes.
static inline void copenssl_sha1_finish(SHA_CTX *state, void *digest) {
  SHA1_Final((unsigned char *)digest, state);
}
#pragma clang diagnostic pop

#endif
