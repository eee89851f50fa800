#include "connectors/kube/transport/socket_tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <climits>
#include <new>

namespace fairlead {
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

// Where an SSL has its SocketTls; the ones of Asio's streams have none.
int connection_index() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

SocketTls* connection_of(const SSL* tls) {
  return static_cast<SocketTls*>(SSL_get_ex_data(tls, connection_index()));
}

// Not BIO_s_socket, whose writes raise SIGPIPE, and which knows no closed socket.
int bio_result(BIO* bio, ssize_t got, int retry, SocketTls::ErrorCondition& error) {
  BIO_clear_retry_flags(bio);
  if (got > 0) return static_cast<int>(got);
  if (got == 0)
    error = asio::ssl::error::stream_truncated;
  else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
    BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
  else
    error.assign(errno, asio::error::get_system_category());
  return -1;
}

}  // namespace

struct SocketTls::Bio {
  static SocketTls& owner(BIO* bio) { return *static_cast<SocketTls*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* to, int size) {
    SocketTls& self = owner(bio);
    const auto got =
        ::recv(self.socket_.native_handle(), to, static_cast<std::size_t>(size), MSG_DONTWAIT);
    return bio_result(bio, got, BIO_FLAGS_READ, self.socket_error_);
  }
  static int write(BIO* bio, const char* from, int size) {
    SocketTls& self = owner(bio);
    const auto sent = ::send(self.socket_.native_handle(), from, static_cast<std::size_t>(size),
                             MSG_DONTWAIT | MSG_NOSIGNAL);
    return bio_result(bio, sent, BIO_FLAGS_WRITE, self.socket_error_);
  }
  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static BIO* make(SocketTls& owner) {
    static BIO_METHOD* const method = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "socket");
      BIO_meth_set_read(made, read);
      BIO_meth_set_write(made, write);
      BIO_meth_set_ctrl(made, control);
      return made;
    }();
    BIO* bio = BIO_new(method);
    if (!bio) throw std::bad_alloc();
    BIO_set_data(bio, &owner);
    BIO_set_init(bio, 1);
    return bio;
  }

  static int verify(int preverified, X509_STORE_CTX* store) {
    const auto* tls =
        static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
    asio::ssl::verify_context context(store);
    const asio::ssl::host_name_verification check_name(connection_of(tls)->name_);
    return check_name(preverified != 0, context) ? 1 : 0;
  }
};

void TlsSession::enable(asio::ssl::context& tls) {
  SSL_CTX_ctrl(tls.native_handle(), SSL_CTRL_SET_SESS_CACHE_MODE,
               SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL, nullptr);
  SSL_CTX_sess_set_new_cb(tls.native_handle(), [](SSL* from, SSL_SESSION* session) {
    SocketTls* connection = connection_of(from);
    if (!connection) return 0;
    connection->session_.keep(session);
    return 1;
  });
}

void TlsSession::keep(SSL_SESSION* session) {
  forget();
  session_ = session;
}

void TlsSession::forget() {
  SSL_SESSION_free(session_);
  session_ = nullptr;
}

void TlsSession::resume(SSL* tls) {
  if (!session_) return;
  // A server need not show its certificate again; what is expired was good once.
  const X509* shown = SSL_SESSION_get0_peer(session_);
  const bool is_valid = SSL_SESSION_is_resumable(session_) == 1 &&
                        (!shown || X509_cmp_current_time(X509_get0_notAfter(shown)) > 0);
  if (!is_valid || SSL_set_session(tls, session_) != 1) forget();
}

SocketTls::SocketTls(tcp::socket& socket, asio::ssl::context& tls, TlsSession& session)
    : socket_(socket), session_(session), tls_(SSL_new(tls.native_handle())) {
  if (!tls_) throw std::bad_alloc();
  SSL_set_ex_data(tls_, connection_index(), this);
  SSL_ctrl(tls_, SSL_CTRL_MODE,
           SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
               SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER,
           nullptr);
  SSL_set_read_ahead(tls_, 1);  // a record in one read
  BIO* bio = Bio::make(*this);
  SSL_set_bio(tls_, bio, bio);
  SSL_set_verify(tls_, SSL_get_verify_mode(tls_), Bio::verify);
}

SocketTls::~SocketTls() {
  // Else OpenSSL takes the session for one that failed, and resumes it no more.
  if (SSL_is_init_finished(tls_) == 1)
    SSL_set_shutdown(tls_, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  SSL_free(tls_);
}

// After an operation that did not succeed: waits until it may, or sets `error`.
asio::awaitable<void> SocketTls::wait_after(int result, ErrorCondition& error) {
  const auto into = [&error] { return asio::redirect_error(asio::use_awaitable, error); };
  switch (SSL_get_error(tls_, result)) {
    case SSL_ERROR_WANT_READ:
      SSL_free_buffers(tls_);  // where a record is incomplete it does nothing
      co_await socket_.async_wait(tcp::socket::wait_read, into());
      break;
    case SSL_ERROR_WANT_WRITE: co_await socket_.async_wait(tcp::socket::wait_write, into()); break;
    case SSL_ERROR_ZERO_RETURN: error = asio::error::eof; break;
    default:
      if (const unsigned long code = ERR_get_error(); code != 0 && !socket_error_)
        error.assign(static_cast<int>(code), asio::error::get_ssl_category());
      else
        error = socket_error_ ? socket_error_ : asio::ssl::error::unspecified_system_error;
  }
  if (!socket_.is_open()) error = asio::error::operation_aborted;
}

asio::awaitable<void> SocketTls::handshake(ErrorCondition& error) {
  session_.resume(tls_);
  for (;;) {
    ERR_clear_error();
    const int result = SSL_connect(tls_);
    if (result == 1) co_return;
    co_await wait_after(result, error);
    if (!error) continue;
    session_.forget();
    co_return;
  }
}

asio::awaitable<void> SocketTls::write(std::string_view bytes, ErrorCondition& error) {
  while (!bytes.empty() && !error) {
    ERR_clear_error();
    const int sent = SSL_write(tls_, bytes.data(),
                               static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX)));
    if (sent > 0)
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    else
      co_await wait_after(sent, error);
  }
}

// What OpenSSL holds back is read before it asks for more.
asio::awaitable<std::size_t> SocketTls::read(char* to, std::size_t size, ErrorCondition& error) {
  while (!error) {
    ERR_clear_error();
    const int got = SSL_read(tls_, to, static_cast<int>(std::min<std::size_t>(size, INT_MAX)));
    if (got > 0) co_return static_cast<std::size_t>(got);
    co_await wait_after(got, error);
  }
  co_return 0;
}

}  // namespace fairlead
