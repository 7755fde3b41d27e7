# Ruby's sqlite3, and Active Record, as docs/HOSTS.md gives them to their users.
require "sqlite3"
require "active_record"

URI_OF_APP = "file:app.db?vfs=selenite&selenite_identity=key.txt"

def look(*files) = system(ENV.fetch("SELENITE_TEST_LOOK"), *files) || abort

boot = SQLite3::Database.new(":memory:")
boot.enable_load_extension(true)
boot.load_extension(ENV.fetch("SELENITE_TEST_EXTENSION"))

db = SQLite3::Database.new(URI_OF_APP)
db.execute("PRAGMA journal_mode = WAL")
db.execute("CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT)")
4.times.map do
  Thread.new do
    own = SQLite3::Database.new(URI_OF_APP)
    own.busy_timeout(20_000)
    50.times { |n| own.execute("INSERT INTO note(body) VALUES (?)", ["attack at dawn #{n}"]) }
    own.close
  end
end.each(&:join)
look("app.db", "app.db-wal")
db.execute("PRAGMA journal_mode = PERSIST")
db.execute("UPDATE note SET body = body || '!'")
look("app.db", "app.db-journal")
db.close

begin
  SQLite3::Database.new(URI_OF_APP.sub("key.txt", "other.txt")).execute("SELECT * FROM note")
  abort "the wrong key opened the database"
rescue SQLite3::Exception => e
  puts "SQLite #{boot.get_first_value("SELECT sqlite_version()")}", "wrong key: #{e.message}: #{boot.get_first_value("SELECT selenite_last_error()")}"
end

class Note < ActiveRecord::Base
  self.table_name = "note"
end
ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: URI_OF_APP)
puts Note.count
puts Dir.children(".")
