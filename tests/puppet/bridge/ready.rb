# frozen_string_literal: true

# Scripts of Ruby in processes that begin with Puppet loaded, which takes a second otherwise. The program that is given has this one at the
# other end of its socket:
#
#   ruby ready.rb SOCKET               waits for programs until its standard input ends; prints a line once it is ready
#   ruby ready.rb SOCKET SCRIPT ARG…   runs a script as `ruby SCRIPT ARG…` would: its own descriptors, environment, folder and status

require 'socket'

path, script, *arguments = ARGV

if script
  server = UNIXSocket.new(path)
  request = Marshal.dump([script, arguments, ENV.to_h, Dir.pwd])
  server.write([request.bytesize].pack('N'), request)
  [$stdin, $stdout, $stderr].each { |io| server.send_io(io) }
  # The process itself is to be the last one that holds them.
  [$stdin, $stdout, $stderr].each { |io| io.reopen(File::NULL) }
  exit!((server.read(1) || "\x01").ord)
end

require 'puppet'
require 'puppet/pops'
require 'puppet/node'
require 'puppet/parser/compiler'

# Becomes the process that was asked for.
def become(script, arguments, environment, folder, descriptors)
  [$stdin, $stdout, $stderr].zip(descriptors) { |own, given| own.reopen(given) }
  descriptors.each(&:close)
  Process.setpgid(0, 0)
  ENV.replace(environment)
  Dir.chdir(folder)
  ARGV.replace(arguments)
  $0 = script
  load script
end

socket = UNIXServer.new(path)
Thread.new do
  $stdin.read
  exit!(0)
end
puts 'ready'
$stdout.flush

loop do
  client = socket.accept
  size = client.read(4).unpack1('N')
  request = Marshal.load(client.read(size)) # from the test's own process
  descriptors = Array.new(3) { client.recv_io }
  child = fork do
    socket.close
    client.close
    become(*request, descriptors)
  end
  descriptors.each(&:close)
  Thread.new do
    _, ending = Process.wait2(child)
    client.write([ending.exitstatus || 1].pack('C'))
  rescue Errno::EPIPE
    nil # The client was ended before.
  ensure
    client.close
  end
end
