import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.thrift2.ThriftServer;

/** A whole HBase and its Thrift gateway in one process; the settings come from hbase-site.xml. */
public final class OneHBase {
    public static void main(String[] arguments) throws Exception {
        new Thread(() -> HMaster.main(new String[] {"start"}), "hbase").start();
        ThriftServer.main(arguments);
    }
}
