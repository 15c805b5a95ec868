# Makes a pair of keys in the folder ARGV[0], and encrypts as hiera-eyaml does: one text in JSON per
# line of the input, one ciphertext per line of the output.
require 'base64'
require 'json'
require 'openssl'

key = OpenSSL::PKey::RSA.new(1024)
certificate = OpenSSL::X509::Certificate.new
certificate.version = 2
certificate.serial = 1
certificate.subject = certificate.issuer = OpenSSL::X509::Name.parse('/CN=secrets')
certificate.public_key = key.public_key
certificate.not_before = Time.now - 60
certificate.not_after = Time.now + 3600
certificate.sign(key, OpenSSL::Digest.new('SHA256'))
File.write(File.join(ARGV[0], 'private.pem'), key.to_pem)
File.write(File.join(ARGV[0], 'public.pem'), certificate.to_pem)

cipher = OpenSSL::Cipher.new('aes-256-cbc')
$stdin.each_line do |line|
  message = OpenSSL::PKCS7.encrypt([certificate], JSON.parse(line), cipher, OpenSSL::PKCS7::BINARY)
  puts "ENC[PKCS7,#{Base64.strict_encode64(message.to_der)}]"
end
