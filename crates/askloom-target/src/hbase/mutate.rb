# Changes one row at once, and says whether it did. Cells are put with a timestamp; columns and families go up to the
# one before it, because a delete hides what has its own. With a version only if `i:n` still is that one, with :absent
# only if there is none.
def mutate(table, row, timestamp, put, delete: [], version: nil)
  client = org.apache.hadoop.hbase.client
  bytes = lambda { |column| column.split(":", 2).map { |name| name.to_java_bytes } }
  key = row.to_java_bytes
  come = client::Put.new(key, timestamp)
  put.each { |column, value| come.addColumn(*bytes.call(column), value.to_java_bytes) }
  go = client::Delete.new(key)
  delete.each do |column|
    family, qualifier = bytes.call(column)
    qualifier ? go.addColumns(family, qualifier, timestamp - 1) : go.addFamily(family, timestamp - 1)
  end
  all = client::RowMutations.new(key)
  all.add(come) unless put.empty?
  all.add(go) unless delete.empty?
  rows = get_table(table).table
  if version.nil?
    rows.mutateRow(all)
    return true
  end
  check = client::CheckAndMutate.newBuilder(key)
  family, qualifier = bytes.call("i:n")
  check = version == :absent ? check.ifNotExists(family, qualifier) :
    check.ifEquals(family, qualifier, [version].pack("q>").to_java_bytes)
  rows.checkAndMutate(check.build(all)).isSuccess
end
