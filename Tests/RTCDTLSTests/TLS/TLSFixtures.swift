/// Certificates that only these tests trust: one root, one intermediate, and server certificates of one key, from 2020 to 2120
/// where nothing else is said.
enum TLSFixtures {
  /// Vouches for `intermediate`.
  static let root = """
    -----BEGIN CERTIFICATE-----
    MIIBPTCB5aADAgECAhRoj/Xxu88d5QVqM1g1+hsOwDyDCTAKBggqhkjOPQQDAjAU
    MRIwEAYDVQQDDAl0ZXN0IHJvb3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEw
    MDAwMDBaMBQxEjAQBgNVBAMMCXRlc3Qgcm9vdDBZMBMGByqGSM49AgEGCCqGSM49
    AwEHA0IABARRyNFhsmbYO3qoNPQx9YiKs3hNiH816lhQHODsTnTLp6MvPPIeccof
    TruGEn5OQ2uPY+n4fo5urHvJ3UnBYnSjEzARMA8GA1UdEwEB/wQFMAMBAf8wCgYI
    KoZIzj0EAwIDRwAwRAIgAY+dP9BqXPAGKNW/YOfLp2z6pQ3JodSfIlqy0SKKx+AC
    IG2hjtZISQ6hNKs9ug9Eud+OmbK8CiCpahZy9AhfwB3H
    -----END CERTIFICATE-----
    """

  /// A root with the same name as `root` and another key.
  static let otherRoot = """
    -----BEGIN CERTIFICATE-----
    MIIBPjCB5aADAgECAhRR4HFgNscX6fx3SUBhNG9TgjgazjAKBggqhkjOPQQDAjAU
    MRIwEAYDVQQDDAl0ZXN0IHJvb3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEw
    MDAwMDBaMBQxEjAQBgNVBAMMCXRlc3Qgcm9vdDBZMBMGByqGSM49AgEGCCqGSM49
    AwEHA0IABFTE3km8o48OrJzblbDlBqtCZyqmx+MjWxNSiLyJsGKK9wsMrIaWcU4i
    3KtNMrQxKF+SZ9hMbCmC+238L+nbKzCjEzARMA8GA1UdEwEB/wQFMAMBAf8wCgYI
    KoZIzj0EAwIDSAAwRQIgcRiQh9VyP26o0JJV79t8ORmmtEouVY28Rrxjly+3kzgC
    IQCZQc/m3zcwE1M7qN8g2OrNpVoTX5yLRMkXKGJIpvp2Sg==
    -----END CERTIFICATE-----
    """

  /// Vouches for all that follow where nothing else is said.
  static let intermediate = """
    -----BEGIN CERTIFICATE-----
    MIIBRTCB7aADAgECAhR4xvw2bqgx8r9SNRv9rF7ZyHLrBjAKBggqhkjOPQQDAjAU
    MRIwEAYDVQQDDAl0ZXN0IHJvb3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEw
    MDAwMDBaMBwxGjAYBgNVBAMMEXRlc3QgaW50ZXJtZWRpYXRlMFkwEwYHKoZIzj0C
    AQYIKoZIzj0DAQcDQgAE8ztDiS0YfoKBh29YBrNx4+yDjaIIFniJrvHVTPR/N/pz
    2HyaBdWeC28Cr4/KSTKOLhI+mFf53rjOCGWqU+q836MTMBEwDwYDVR0TAQH/BAUw
    AwEB/zAKBggqhkjOPQQDAgNHADBEAiA1OTEp56/XlUCUZcg+6M0ulYHIl0ffNalK
    w9Uk4aOZ+gIgDWZDS3n8hVMpu/QoteGX0JaSQFgN/J5RHnJZFyKgO4A=
    -----END CERTIFICATE-----
    """

  /// The key of all following certificates except `weak`.
  static let privateKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBU2TfnV6TZcq8iJq
    pk/eDNZA4Wa75V4CVM2V3jwRvZyhRANCAARx7h+WAigtWNswkBP6JXiTlR1Mcxvy
    qkwmMVbTNBbOy74X7Bh7QqzE/C9fdydO+loKdKLXAVBc89pOvzv/GQ/O
    -----END PRIVATE KEY-----
    """

  /// A key that belongs to none of them.
  static let otherPrivateKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBeC3Y4f87O+TogAF
    8dtxAZwxkmoQQbfZ5nO2zImSrvqhRANCAAQcUtogERwhm59AmGHAX/0q4SQa454R
    J3NXQJqdFH+3Zvc6KvmWUVEIqO7f/MXfnF8KAcFBYjSLGB6MOpZkviTF
    -----END PRIVATE KEY-----
    """

  /// For `good.example`, `*.wild.example`, 192.0.2.1 and 2001:db8::1.
  static let good = """
    -----BEGIN CERTIFICATE-----
    MIIBkjCCATigAwIBAgIUDrQ0gIHTxcBOt5xWyocsI/Q2UIIwCgYIKoZIzj0EAwIw
    HDEaMBgGA1UEAwwRdGVzdCBpbnRlcm1lZGlhdGUwIBcNMjAwMTAxMDAwMDAwWhgP
    MjEyMDAxMDEwMDAwMDBaMAwxCjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAARx7h+WAigtWNswkBP6JXiTlR1McxvyqkwmMVbTNBbOy74X7Bh7QqzE
    /C9fdydO+loKdKLXAVBc89pOvzv/GQ/Oo2YwZDAMBgNVHRMBAf8EAjAAMBMGA1Ud
    JQQMMAoGCCsGAQUFBwMBMD8GA1UdEQQ4MDaCDGdvb2QuZXhhbXBsZYIOKi53aWxk
    LmV4YW1wbGWHBMAAAgGHECABDbgAAAAAAAAAAAAAAAEwCgYIKoZIzj0EAwIDSAAw
    RQIgbil3dLxGWx4I+CVLIucDqz5O/aZkrTo0hFQ0q446xZACIQDBpsyTPO6yox12
    nVOlMSWtEndf4tZoJzYU5OO3d4yuzg==
    -----END CERTIFICATE-----
    """

  /// `good.example` is its subject's common name; it has no other.
  static let commonNameAlone = """
    -----BEGIN CERTIFICATE-----
    MIIBXTCCAQKgAwIBAgIUKCM6QhoOaa/sIgZFkNvGStkdAyswCgYIKoZIzj0EAwIw
    HDEaMBgGA1UEAwwRdGVzdCBpbnRlcm1lZGlhdGUwIBcNMjAwMTAxMDAwMDAwWhgP
    MjEyMDAxMDEwMDAwMDBaMBcxFTATBgNVBAMMDGdvb2QuZXhhbXBsZTBZMBMGByqG
    SM49AgEGCCqGSM49AwEHA0IABHHuH5YCKC1Y2zCQE/oleJOVHUxzG/KqTCYxVtM0
    Fs7LvhfsGHtCrMT8L193J076Wgp0otcBUFzz2k6/O/8ZD86jJTAjMAwGA1UdEwEB
    /wQCMAAwEwYDVR0lBAwwCgYIKwYBBQUHAwEwCgYIKoZIzj0EAwIDSQAwRgIhAI7j
    kGBP1FH68fNxNcz/vo6bapGzw238XK/ak1gV+GmuAiEAp/7toDgK/BRiTc3rfpZr
    weS1pAE++xhLT8cYrZdTKX4=
    -----END CERTIFICATE-----
    """

  /// For `good.example`, until 2 January 2020.
  static let expired = """
    -----BEGIN CERTIFICATE-----
    MIIBZzCCAQ6gAwIBAgIUPrS1deyNUV035FH15ZMH/In+PXUwCgYIKoZIzj0EAwIw
    HDEaMBgGA1UEAwwRdGVzdCBpbnRlcm1lZGlhdGUwHhcNMjAwMTAxMDAwMDAwWhcN
    MjAwMTAyMDAwMDAwWjAMMQowCAYDVQQDDAF4MFkwEwYHKoZIzj0CAQYIKoZIzj0D
    AQcDQgAEce4flgIoLVjbMJAT+iV4k5UdTHMb8qpMJjFW0zQWzsu+F+wYe0KsxPwv
    X3cnTvpaCnSi1wFQXPPaTr87/xkPzqM+MDwwDAYDVR0TAQH/BAIwADATBgNVHSUE
    DDAKBggrBgEFBQcDATAXBgNVHREEEDAOggxnb29kLmV4YW1wbGUwCgYIKoZIzj0E
    AwIDRwAwRAIgESjOPZax1zbKapE0Hk5w8d4Ip1cy243keDdSVR5D34ACIAGREQcH
    1QUD/LZgoU5hryyr+lvZpoPtmO4sjHR29DzB
    -----END CERTIFICATE-----
    """

  /// For `good.example`, from 2119 on.
  static let notYetValid = """
    -----BEGIN CERTIFICATE-----
    MIIBbDCCARKgAwIBAgIUMNBdooC0Hi4fJc4bpxMxLlaD/t0wCgYIKoZIzj0EAwIw
    HDEaMBgGA1UEAwwRdGVzdCBpbnRlcm1lZGlhdGUwIhgPMjExOTAxMDEwMDAwMDBa
    GA8yMTIwMDEwMTAwMDAwMFowDDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqG
    SM49AwEHA0IABHHuH5YCKC1Y2zCQE/oleJOVHUxzG/KqTCYxVtM0Fs7LvhfsGHtC
    rMT8L193J076Wgp0otcBUFzz2k6/O/8ZD86jPjA8MAwGA1UdEwEB/wQCMAAwEwYD
    VR0lBAwwCgYIKwYBBQUHAwEwFwYDVR0RBBAwDoIMZ29vZC5leGFtcGxlMAoGCCqG
    SM49BAMCA0gAMEUCIAnSnpZ0ZrISnHQDdb9TLINTYvnq5A8LSuEKlIad9JbhAiEA
    nTXz7nTvVtcBcSs8pJoesnWSs/2Uzoy6Fb9Z9H36WuU=
    -----END CERTIFICATE-----
    """

  /// For `good.example`, as a client's (clientAuth).
  static let forClients = """
    -----BEGIN CERTIFICATE-----
    MIIBaTCCARCgAwIBAgIUEvOgejAJEbhSlebjDGK01Ibhk+QwCgYIKoZIzj0EAwIw
    HDEaMBgGA1UEAwwRdGVzdCBpbnRlcm1lZGlhdGUwIBcNMjAwMTAxMDAwMDAwWhgP
    MjEyMDAxMDEwMDAwMDBaMAwxCjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAARx7h+WAigtWNswkBP6JXiTlR1McxvyqkwmMVbTNBbOy74X7Bh7QqzE
    /C9fdydO+loKdKLXAVBc89pOvzv/GQ/Ooz4wPDAMBgNVHRMBAf8EAjAAMBMGA1Ud
    JQQMMAoGCCsGAQUFBwMCMBcGA1UdEQQQMA6CDGdvb2QuZXhhbXBsZTAKBggqhkjO
    PQQDAgNHADBEAiBUbqrn529GCDfRRCLEiu5EJY7diiexkSqsPKPa2IA2hgIgfuLP
    OwgwqptoZ7LbLSW3l/P6dNc6Hj61mGCVyh9IZ6w=
    -----END CERTIFICATE-----
    """

  /// For `g*.example`.
  static let partialWildcard = """
    -----BEGIN CERTIFICATE-----
    MIIBaDCCAQ6gAwIBAgIUQ5L9QkDJDXiSUDC4fPM9/5gUtr4wCgYIKoZIzj0EAwIw
    HDEaMBgGA1UEAwwRdGVzdCBpbnRlcm1lZGlhdGUwIBcNMjAwMTAxMDAwMDAwWhgP
    MjEyMDAxMDEwMDAwMDBaMAwxCjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAARx7h+WAigtWNswkBP6JXiTlR1McxvyqkwmMVbTNBbOy74X7Bh7QqzE
    /C9fdydO+loKdKLXAVBc89pOvzv/GQ/OozwwOjAMBgNVHRMBAf8EAjAAMBMGA1Ud
    JQQMMAoGCCsGAQUFBwMBMBUGA1UdEQQOMAyCCmcqLmV4YW1wbGUwCgYIKoZIzj0E
    AwIDSAAwRQIhAMwxouOlQBjy+KKEHnHiKGk0aFUnjaD7gdHxKMLZ7eQLAiBId+0M
    dNO2ErMZb5SaVvpE40SMcSBzxxKC1NsvE1iwXQ==
    -----END CERTIFICATE-----
    """

  /// For `good.example`, signed by `good`'s key, which is no authority's.
  static let byServer = """
    -----BEGIN CERTIFICATE-----
    MIIBWjCCAQCgAwIBAgIUdsKk/yaSBVfMOfKz0+sIymMYyWwwCgYIKoZIzj0EAwIw
    DDEKMAgGA1UEAwwBeDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFow
    DDEKMAgGA1UEAwwBeTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHHuH5YCKC1Y
    2zCQE/oleJOVHUxzG/KqTCYxVtM0Fs7LvhfsGHtCrMT8L193J076Wgp0otcBUFzz
    2k6/O/8ZD86jPjA8MAwGA1UdEwEB/wQCMAAwEwYDVR0lBAwwCgYIKwYBBQUHAwEw
    FwYDVR0RBBAwDoIMZ29vZC5leGFtcGxlMAoGCCqGSM49BAMCA0gAMEUCICdlRRKv
    0K7v8tyhrUoZ5tOsJOF8qJYX8tfzbKYa0ouFAiEAuoGcfxznDk6bA5MPQuh/y0FT
    qWD5EWSj6xYpdh0RT34=
    -----END CERTIFICATE-----
    """

  /// For `good.example`; vouches for itself.
  static let selfSigned = """
    -----BEGIN CERTIFICATE-----
    MIIBYTCCAQagAwIBAgIUXmqO+T0wPqFM2KceUvz850idDOMwCgYIKoZIzj0EAwIw
    DzENMAsGA1UEAwwEc2VsZjAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAw
    MFowDzENMAsGA1UEAwwEc2VsZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHHu
    H5YCKC1Y2zCQE/oleJOVHUxzG/KqTCYxVtM0Fs7LvhfsGHtCrMT8L193J076Wgp0
    otcBUFzz2k6/O/8ZD86jPjA8MAwGA1UdEwEB/wQCMAAwEwYDVR0lBAwwCgYIKwYB
    BQUHAwEwFwYDVR0RBBAwDoIMZ29vZC5leGFtcGxlMAoGCCqGSM49BAMCA0kAMEYC
    IQCFW04AynhjywyNI9aa9iiXBNTb0UhJFF1itxHPKwlgSAIhAKWTJFwG0f2zdBI7
    hzenThlXHu+GlUNC6Obf4zogsFSx
    -----END CERTIFICATE-----
    """

  /// For `good.example`, with an RSA key of 1,024 bits; vouches for itself.
  static let weak = """
    -----BEGIN CERTIFICATE-----
    MIIB5zCCAVCgAwIBAgIUN8kDf10uvy1ZWgHI8yGXWG6I0VswDQYJKoZIhvcNAQEL
    BQAwDzENMAsGA1UEAwwEd2VhazAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAw
    MDAwMFowDzENMAsGA1UEAwwEd2VhazCBnzANBgkqhkiG9w0BAQEFAAOBjQAwgYkC
    gYEA8k7NDKu7VvM+jGtnej/8NBI4CCM7pEvB7xnZJQUJiCM/YNlUv+R/pH/rgFXW
    wDG8zcgLguGifmyarkk+1bCXojJR0GZ4nSG8BtYKIf4/J/K6Ps/E3QITSbWgzoTz
    v7/FNLmDiGQ5W6j8SgWABs2ESKw4JeOOYJB0/TTzB/jXJcUCAwEAAaM+MDwwDAYD
    VR0TAQH/BAIwADATBgNVHSUEDDAKBggrBgEFBQcDATAXBgNVHREEEDAOggxnb29k
    LmV4YW1wbGUwDQYJKoZIhvcNAQELBQADgYEA0blPiz0FHFQIrvOzBMdq/RPkCfMT
    6guhApeBdbkmobmGI047bhGyXZaV0TN/WVQesq5SDK4ulL7xCCJsOPixxLzDlkT9
    3xnAKfSvHEqx5c+fIXjEuViYuZi4Knutawyw33cJx2FmLi73b4Mp31CVj15Ywa36
    xqsFI7UTw7hYP5o=
    -----END CERTIFICATE-----
    """

  /// The key of `weak`.
  static let weakPrivateKey = """
    -----BEGIN PRIVATE KEY-----
    MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAPJOzQyru1bzPoxr
    Z3o//DQSOAgjO6RLwe8Z2SUFCYgjP2DZVL/kf6R/64BV1sAxvM3IC4Lhon5smq5J
    PtWwl6IyUdBmeJ0hvAbWCiH+Pyfyuj7PxN0CE0m1oM6E87+/xTS5g4hkOVuo/EoF
    gAbNhEisOCXjjmCQdP008wf41yXFAgMBAAECgYEAmNhUR/XcCpENl434jAjokgAc
    ECYJbS3Me4KWkt+Gj7WMOQ9egl0klyOJ7j43ZKz7J+NUP48M7Sqct+vEEw991bwc
    AW52had7S40L+JnQWdYn4JvPgG/rFUVPcCeMDm/alcHSMVpNbYrLbozbNZScunm+
    eHf35Ql3tU3OtWkF8IECQQD9rBtMKqJxwrk0fira9zYVILp0n572vhhwhiNCArYQ
    5QpmAbXgnna0XoIsAFrvljMn86gbqYekiVQx87SiajidAkEA9If/mKIGGBO9MaNQ
    P/vaV9rRpBfQvKplAy+wl+brVxVvoXWQ8b2sNKQpvVlP3xrMxqurlzGHl7J/iXmF
    kr61SQJAfFlnsDieFOH9Y8wNOfVBH65BeHXeuNmKpW47zloB4dpE9KgV/hvv2I8T
    hHpQGW4peYYpfBXoljFzgmESxSMIyQJBAMrn8qpHf8EI2AvRVSzSojoWY7DC5j03
    Mvxy3RkezxeCvQ+AC5bcaYGA2vW4n3MkvNj56DdcLQQuZG/Bu5mpz6kCQQDJrDKg
    zzR/NyqtGzl/mpKJVRgX51sy3fTE828k3QXEZ9WLYO/ZIHDalY40t8NyNyPrrAIC
    3Jb888AsAPV2pKcQ
    -----END PRIVATE KEY-----
    """

}
